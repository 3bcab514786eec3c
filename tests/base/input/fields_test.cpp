#include "base/input/fields.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "base/input/codecs.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::input::fields_test {
namespace {

using testing::check_refused;

struct Inner {
  bool on = true;
};

struct Outer {
  std::uint32_t layers = 7;
  double bytes = 4.0;
  std::string name = "x";
  std::optional<std::uint64_t> seed;
  Inner inner;
  int sum = 0;
};

const Table<Inner>& inner_table() {
  static const Table<Inner> table{{"on", &Inner::on, Flag{}, "switches it on"}};
  return table;
}

/// A key that sets a member from others.
struct Sum {
  void read(ObjectReader& reader, std::string_view key, Outer& outer) const {
    outer.sum = reader.has(key) ? static_cast<int>(reader.integer(key, 0, 99))
                                : static_cast<int>(outer.layers) + 1;
  }
  void write(const Outer& outer, std::string_view key, Json& json) const {
    json[std::string(key)] = outer.sum;
  }
  Json schema() const { return Integer{0, 99}.schema(); }
};

const Table<Outer>& outer_table() {
  static const Table<Outer> table{
      {"name", &Outer::name, Text{}, "for readers", kRequired},
      {"layers", &Outer::layers, Integer{1, 9}, "number of `layers`"},
      {"bytes", &Outer::bytes, Positive{}, ""},
      {"seed", &Outer::seed, Integer{0, 5}, "", otherwise("drawn")},
      {"inner", &Outer::inner, Nested{inner_table}, ""},
      {"sum", Sum{}, "", otherwise("`layers` and one")},
      {"other", Elsewhere{R"({"type": "array"})"}, "read by other code", by_default("[]")},
  };
  return table;
}

Outer read(const Json& json) { return outer_table().read_all(ObjectReader(json, "/here")); }

TEST_CASE("absent keys keep the members") {
  const Outer outer = read({{"name", "a"}});
  CHECK(outer.name == "a");
  CHECK(outer.layers == 7);
  CHECK(outer.bytes == 4.0);
  CHECK_FALSE(outer.seed);
  CHECK(outer.inner.on);
  CHECK(outer.sum == 8);
}

TEST_CASE("present keys set the members, in the order of the table") {
  const Outer outer =
      read({{"inner", {{"on", false}}}, {"seed", 5}, {"bytes", 0.5}, {"layers", 2}, {"name", "a"}});
  CHECK(outer.layers == 2);
  CHECK(outer.bytes == 0.5);
  CHECK(outer.seed == 5);
  CHECK_FALSE(outer.inner.on);
  CHECK(outer.sum == 3);
}

TEST_CASE("a written object is read back, without the members that have no value") {
  Outer outer{.layers = 3, .bytes = 1.5, .name = "b", .seed = {}, .inner = {false}, .sum = 9};
  const Json json = outer_table().write(outer);
  CHECK(json.dump() == R"({"name":"b","layers":3,"bytes":1.5,"inner":{"on":false},"sum":9})");
  CHECK(outer_table().write(read(json)) == json);
  outer.seed = 0;
  CHECK(outer_table().write(outer)["seed"] == 0);
}

TEST_CASE("errors have the pointers and the words of the reader") {
  check_refused([] { read(Json::object()); }, "/here/name", "is missing; expected a string");
  check_refused(
      [] {
        read({{"name", "a"}, {"layers", 10}});
      },
      "/here/layers", "10 is not an integer from 1 to 9");
  check_refused(
      [] {
        read({{"name", "a"}, {"layrs", 1}});
      },
      "/here/layrs", "unknown key 'layrs'; did you mean 'layers'?");
  check_refused(
      [] {
        read({{"name", "a"}, {"inner", {{"off", 1}}}});
      },
      "/here/inner/off", "unknown key 'off'; use one of on");
  // A key that other code reads is unknown until that code has read it.
  check_refused([] { read({{"name", "a"}, {"other", 1}}); }, "/here/other", "unknown key");
}

TEST_CASE("the schema has types, limits, meanings and defaults") {
  const Json schema = outer_table().schema();
  CHECK(schema["type"] == "object");
  CHECK(schema["required"] == Json({"name"}));
  CHECK(schema["additionalProperties"] == false);
  const Json& keys = schema["properties"];
  CHECK(keys["layers"] == Json({{"type", "integer"},
                                {"minimum", 1},
                                {"maximum", 9},
                                {"description", "number of `layers`"},
                                {"default", 7}}));
  CHECK_FALSE(keys["name"].contains("default"));
  CHECK(keys["bytes"]["default"].dump() == "4");  // a whole number has no decimal point
  CHECK(keys["seed"]["x-default"] == "drawn");
  CHECK_FALSE(keys["seed"].contains("default"));
  CHECK_FALSE(keys["inner"].contains("default"));
  CHECK(keys["inner"]["properties"]["on"]["default"] == true);
  CHECK(keys["other"]["default"] == Json::array());
}

TEST_CASE("a nested object has the defaults of its member, not of its type") {
  const Json schema = outer_table().schema(Outer{
      .layers = 1, .bytes = 1, .name = {}, .seed = 2, .inner = {false}, .sum = 0})["properties"];
  CHECK(schema["inner"]["properties"]["on"]["default"] == false);
  CHECK(schema["layers"]["default"] == 1);
}

TEST_CASE("traits add a definition, rules and any key") {
  const Table<Inner> table{{{"*", Elsewhere{Integer{1, 2}}, ""}},
                           {.definition = "inner", .rules = R"({"minProperties": 1})"}};
  const Json schema = table.schema();
  CHECK(schema["x-definition"] == "inner");
  CHECK(schema["minProperties"] == 1);
  CHECK(schema["additionalProperties"]["maximum"] == 2);
  CHECK_FALSE(schema.contains("properties"));
}

TEST_CASE("joined schemas have the keys of all") {
  const Json schema = joined({inner_table().schema(), outer_table().schema()});
  CHECK(schema["properties"].size() == 8);
  CHECK(schema["properties"].begin().key() == "on");
  CHECK(schema["required"] == Json({"name"}));
}

TEST_CASE("a member of a member is reached by in()") {
  const Table<Outer> table{{"on", in(&Outer::inner, &Inner::on), Flag{}, ""}};
  CHECK_FALSE(table.read_all(ObjectReader({{"on", false}}, "")).inner.on);
  CHECK(table.write(Outer{})["on"] == true);
}

}  // namespace
}  // namespace equarx::input::fields_test
