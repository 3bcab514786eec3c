#include "base/input/codecs.hpp"

#include <array>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::input::codecs_test {
namespace {

using testing::check_refused;

enum class Color : std::uint8_t { red, green, blue };
constexpr EnumNames<Color, 3> kColors({{Color::red, "red"},
                                       {Color::green, "green"},
                                       {Color::blue, "blue"}});
std::string_view name(Color color) { return kColors[color]; }

template <typename Value, typename Codec>
Value read(const Codec& codec, const Json& value) {
  const Json object = {{"key", value}};
  ObjectReader reader(object, "/here");
  Value read{};
  codec.read(reader, "key", read);
  reader.finish();
  return read;
}

/// Reads a value, and writes it as it was.
template <typename Value, typename Codec>
void check_round_trip(const Codec& codec, const Json& value) {
  CHECK(codec.write(read<Value>(codec, value)) == value);
}

TEST_CASE("values are read and written") {
  check_round_trip<std::uint32_t>(Integer{1, 9}, 9);
  check_round_trip<std::uint64_t>(Integer{}, 9'223'372'036'854'775'807);
  check_round_trip<bool>(Flag{}, true);
  check_round_trip<bool>(Switch{{"off", "on"}}, "on");
  check_round_trip<bool>(Switch{{"off", "on"}}, "off");
  check_round_trip<double>(Positive{}, 0.5);
  check_round_trip<double>(Share{}, 1e-9);
  check_round_trip<double>(Number{}, -3.5);
  check_round_trip<double>(Quantity{units::Dimension::bytes}, "32 MiB");
  check_round_trip<std::string>(Text{}, "a");
  check_round_trip<std::vector<std::string>>(Texts{"a name"}, {"a", "b"});
  check_round_trip<Color>(OneOf{kColors}, "blue");
  check_round_trip<Color>(Named{std::array{Color::blue, Color::red}}, "red");
}

TEST_CASE("other values are refused in the words of the reader") {
  check_refused([] { read<int>(Integer{1, 9}, 0); }, "/here/key", "from 1 to 9");
  check_refused([] { read<bool>(Flag{}, 1); }, "/here/key",
                "expected true or false, found a number");
  check_refused(
      [] {
        read<bool>(Switch{{"off", "on"}}, "of");
      },
      "/here/key", "did you mean 'off'?");
  check_refused([] { read<double>(Positive{}, 0); }, "/here/key", "0 is not above 0");
  check_refused([] { read<double>(Share{}, 1.5); }, "/here/key", "from 1e-9 to 1");
  check_refused([] { read<double>(Number{}, "1"); }, "/here/key", "expected a number");
  check_refused([] { read<std::string>(Text{"a name"}, 1); }, "/here/key",
                "expected a name, found a number");
  check_refused(
      [] {
        read<std::vector<std::string>>(Texts{"a name"}, {"a", 1});
      },
      "/here/key/1", "expected a name");
  check_refused([] { read<Color>(OneOf{kColors}, "blu"); }, "/here/key", "did you mean 'blue'?");
  check_refused([] { read<Color>(Named{std::array{Color::blue}}, "red"); }, "/here/key",
                "'red' is not known");
}

TEST_CASE("the sign of a quantity is limited") {
  const Quantity any{units::Dimension::time};
  const Quantity not_negative{units::Dimension::time, Sign::not_negative};
  const Quantity positive{units::Dimension::time, Sign::positive};
  CHECK(read<double>(any, "-1 s") == -1.0);
  CHECK(read<double>(not_negative, "0 s") == 0.0);
  CHECK(read<double>(positive, "1 s") == 1.0);
  check_refused([&] { read<double>(not_negative, "-1 s"); }, "/here/key", "must not be negative");
  check_refused([&] { read<double>(positive, "0 s"); }, "/here/key", "must be above 0");
}

TEST_CASE("schemas have types and limits") {
  CHECK(Integer{1, 9}.schema().dump() == R"({"type":"integer","minimum":1,"maximum":9})");
  CHECK(Flag{}.schema().dump() == R"({"type":"boolean"})");
  CHECK(Switch{{"off", "on"}}.schema().dump() == R"({"enum":["off","on"]})");
  CHECK(Positive{}.schema().dump() == R"({"type":"number","exclusiveMinimum":0})");
  CHECK(Share{}.schema().dump() == R"({"type":"number","minimum":1e-09,"maximum":1})");
  CHECK(Quantity{units::Dimension::bytes}.schema().dump() == R"({"type":["string","integer"]})");
  CHECK(Quantity{units::Dimension::time}.schema().dump() == R"({"type":"string"})");
  CHECK(Texts{"x"}.schema().dump() == R"({"type":"array","items":{"type":"string"}})");
  CHECK(OneOf{kColors}.schema().dump() == R"({"enum":["red","green","blue"]})");
  CHECK(Named{std::array{Color::blue}}.schema().dump() == R"({"enum":["blue"]})");
  CHECK(one_of({Flag{}.schema(), Text{}.schema()}).dump() ==
        R"({"oneOf":[{"type":"boolean"},{"type":"string"}]})");
}

struct Point {
  double x = 0.0;
};
const Table<Point>& point_table() {
  static const Table<Point> table{{"x", &Point::x, Number{}, "", kRequired}};
  return table;
}

TEST_CASE("objects and lists of objects are read with their pointers") {
  using Points = std::vector<Point>;
  const Objects list{point_table, 1};
  CHECK(list.write(read<Points>(list, {{{"x", 1}}, {{"x", 2}}})).dump() ==
        R"([{"x":1.0},{"x":2.0}])");
  check_refused(
      [&] {
        read<Points>(list, {{{"x", 1}}, {{"y", 2}}});
      },
      "/here/key/1/x", "is missing");
  check_refused([&] { read<Points>(list, Json::object()); }, "/here/key", "expected an array");
  CHECK(list.schema()["minItems"] == 1);
  CHECK(list.schema()["items"] == point_table().schema());
  check_refused(
      [] {
        read<Point>(Nested{point_table}, {{"x", 1}, {"z", 2}});
      },
      "/here/key/z", "unknown key 'z'");
}

}  // namespace
}  // namespace equarx::input::codecs_test
