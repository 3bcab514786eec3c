#include "experiments/sweep/line_fields.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::sweep::line_fields_test {
namespace {

/// Fields of an object by a tree of JSON.
void add_fields(const std::string& prefix, const input::Json& object, std::vector<Field>& fields) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object())
      add_fields(prefix + name + '/', value, fields);
    else if (!value.is_array() && !value.is_null())
      fields.push_back({prefix + name, field_text(value)});
  }
}

TEST_CASE("fields of a run equal those of its tree of JSON") {
  const input::Json run = {
      {"label", "int8, \"both\"\n\xC3\xA9"},
      {"time_s", 1.25e-7},
      {"whole", 1.0},
      {"count", 18446744073709551615ULL},
      {"negative", -3},
      {"flag", true},
      {"speedup", nullptr},
      {"empty", input::Json::object()},
      {"list", {1, {{"in", 2}, {"deep", {{"er", 3}}}}, {4, 5}}},
      {"core",
       {{"busy_s", 0.1}, {"links", {1, 2}}, {"waits", {{"a", 1e300}, {"b", "x"}}}, {"c", 2}}},
      {"last", 1.0 / 3.0}};
  const input::Json line = {
      {"point", 3}, {"axes", {{"/run/x", 1}}}, {"run", run}, {"config", {{"label", "no"}}}};
  std::vector<Field> expected;
  add_fields("", run, expected);
  CHECK(run_of_line(line.dump()) == expected);
}

TEST_CASE("members of a line are found by name, and nothing else of that name") {
  const input::Json line = {
      {"point", 3}, {"axes", {{"error", 1}}}, {"error", "too, \"large\""}, {"needs_bytes", 1.5}};
  CHECK(member_of_line(line.dump(), "error").text == "too, \"large\"");
  CHECK(member_of_line(line.dump(), "error").path == "error");
  CHECK(member_of_line(line.dump(), "needs_bytes").text == "1.5");
  CHECK(member_of_line(line.dump(), "point").text == "3");
  CHECK_THROWS_AS(member_of_line(line.dump(), "status"), input::InputError);
}

TEST_CASE("a run is read though the rest of its line is broken, and a broken run is not") {
  CHECK(run_of_line(R"({"run":{"a":1},"config":{"b")") == std::vector<Field>{{"a", "1"}});
  CHECK_THROWS_AS(run_of_line(R"({"run":{"a":)"), input::InputError);
  CHECK_THROWS_AS(run_of_line("no JSON"), input::InputError);
  CHECK(run_of_line(R"({"error":"none"})").empty());
}

}  // namespace
}  // namespace equarx::sweep::line_fields_test
