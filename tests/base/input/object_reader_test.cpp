#include "base/input/object_reader.hpp"

#include <array>
#include <limits>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::input::object_reader_test {
namespace {

using testing::check_refused;

const Json kObject = {{"text", "hello"}, {"count", 7},          {"size", "32 MiB"},
                      {"list", {1, 2}},  {"inner", {{"a", 1}}}, {"none", nullptr}};

TEST_CASE("each getter reads its kind") {
  ObjectReader reader(kObject, "/here");
  CHECK(reader.text("text") == "hello");
  CHECK(reader.integer("count", 7, 7) == 7);
  CHECK(reader.quantity("size", units::Dimension::bytes) == 0x1p25);
  CHECK(reader.array("list").size() == 2);
  CHECK(reader.object("inner").integer("a", 0, 1) == 1);
  CHECK(reader.has("none"));
  CHECK_FALSE(reader.has("absent"));
  reader.finish();
}

TEST_CASE("each getter refuses other kinds, naming the expected and the actual one") {
  ObjectReader reader(kObject, "/here");
  check_refused([&] { reader.text("count"); }, "/here/count", "expected a string, found a number");
  check_refused([&] { reader.text("none"); }, "/here/none", "found null");
  check_refused([&] { reader.integer("text", 0, 9); }, "/here/text",
                "expected an integer, found a string");
  check_refused([&] { reader.quantity("count", units::Dimension::time); }, "/here/count",
                "expected a time with its unit, like \"1 us\", found a number");
  check_refused([&] { reader.quantity("text", units::Dimension::time); }, "/here/text",
                "like \"1 us\"");
  check_refused([&] { reader.array("inner"); }, "/here/inner",
                "expected an array, found an object");
  check_refused([&] { reader.object("list"); }, "/here/list", "expected an object, found an array");
  check_refused([] { ObjectReader(Json(true), ""); }, "the document", "expected an object");
}

TEST_CASE("a missing key is reported with the expected value") {
  ObjectReader reader(kObject, "/here");
  check_refused([&] { reader.text("label"); }, "/here/label", "is missing; expected a string");
  check_refused([&] { reader.integer("seed", 0, 1); }, "/here/seed", "expected an integer");
  check_refused([&] { reader.quantity("latency", units::Dimension::time); }, "/here/latency",
                "expected a time with its unit, like \"1 us\"");
  constexpr std::array<std::string_view, 2> names = {"ring", "equarx"};
  check_refused([&] { reader.choice("algorithm", names); }, "/here/algorithm",
                "expected one of ring, equarx");
}

TEST_CASE("a misspelt required key is not reported as missing") {
  ObjectReader reader(kObject, "/here");
  check_refused([&] { reader.text("tetx"); }, "/here/text",
                "unknown key 'text'; did you mean 'tetx'?");
}

TEST_CASE("non-integers and integers out of range are refused with the range") {
  const Json values = {{"negative", -1}, {"fraction", 1.5}, {"whole", 2.0}, {"large", 1e20}};
  ObjectReader reader(values, "");
  for (const std::string key : {"negative", "fraction", "whole", "large"})
    check_refused([&] { reader.integer(key, 1, 5); }, "/" + key, "is not an integer from 1 to 5");
  const Json limits = {{"most", std::numeric_limits<std::uint64_t>::max()}};
  CHECK(ObjectReader(limits, "").integer("most", 0, std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("rates, times and counts beyond the limits are refused, the limits are accepted") {
  const Json values = {{"slow", "9e-10 B/s"}, {"slowest", "1e-9 B/s"}, {"none", "0 B/s"},
                       {"late", "1.1e9 s"},   {"latest", "1e9 s"},     {"many", 1.1e50},
                       {"most", 1e50},        {"heavy", "1.1e50 B"},   {"share", 1e-9}};
  ObjectReader reader(values, "");
  using enum units::Dimension;
  check_refused([&] { reader.quantity("slow", bandwidth); }, "/slow",
                "9e-10 B/s is too small; a bandwidth is at least 1e-09 B/s");
  check_refused([&] { reader.quantity("late", time); }, "/late",
                "is too large; a time is at most 1000000000 s");
  check_refused([&] { reader.quantity("heavy", bytes); }, "/heavy", "is too large");
  check_refused([&] { reader.positive_number("many"); }, "/many", "1.1e+50 is more than 1e+50");
  CHECK(reader.quantity("slowest", bandwidth) == 1e-9);
  CHECK(reader.quantity("none", bandwidth) == 0.0);
  CHECK(reader.quantity("latest", time) == 1e9);
  CHECK(reader.positive_number("most") == 1e50);
  CHECK(reader.share("share") == 1e-9);
}

TEST_CASE("an unknown choice suggests the closest name") {
  constexpr std::array<std::string_view, 2> names = {"full-loop", "semi-loop"};
  const Json values = {{"ring", "semiloop"}, {"number", 1}};
  ObjectReader reader(values, "");
  check_refused([&] { reader.choice("ring", names); }, "/ring",
                "'semiloop' is not known; did you mean 'semi-loop'? (one of full-loop, semi-loop)");
  check_refused([&] { reader.choice("number", names); }, "/number",
                "expected one of full-loop, semi-loop, found a number");
}

TEST_CASE("keys that were never read are errors") {
  ObjectReader reader(kObject, "/here");
  for (const std::string_view key : {"text", "size", "list", "inner", "none", "number"})
    reader.has(key);
  check_refused([&] { reader.finish(); }, "/here/count", "unknown key 'count'");
}

TEST_CASE("errors have JSON pointers, with ~ and / escaped") {
  const Json odd = {{"a/b~c", 1}};
  ObjectReader reader(odd, "/here");
  check_refused([&] { reader.text("a/b~c"); }, "/here/a~1b~0c", "expected a string");
}

}  // namespace
}  // namespace equarx::input::object_reader_test
