#include "experiments/sweep/range.hpp"

#include "base/input/json.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::range_test {
namespace {

using namespace testing;

std::string range(const std::string& text) {
  const input::Json json = input::parse_json(text);
  return input::Json(expand_range(input::ObjectReader(json, "/range"))).dump();
}

std::string log_range(const std::string& text) {
  const input::Json json = input::parse_json(text);
  return input::Json(expand_log_range(input::ObjectReader(json, "/range"))).dump();
}

TEST_CASE("ranges include both ends") {
  CHECK(range(R"({"from": 1, "to": 9, "step": 2})") == "[1,3,5,7,9]");
  CHECK(range(R"({"from": 1, "to": 8, "step": 2})") == "[1,3,5,7]");
  CHECK(range(R"({"from": -2, "to": 2, "step": 2})") == "[-2,0,2]");
  CHECK(range(R"({"from": 3, "to": 3, "step": 1})") == "[3]");
  CHECK(range(R"({"from": 0.1, "to": 0.5, "step": 0.1})") == "[0.1,0.2,0.3,0.4,0.5]");
  CHECK(range(R"({"from": "1 us", "to": "2 us", "step": "500 ns"})") ==
        R"(["1 us","1.5 us","2 us"])");
  CHECK(log_range(R"({"from": 1, "to": 64, "factor": 4})") == "[1,4,16,64]");
  CHECK(log_range(R"({"from": "1 KiB", "to": "1 MiB", "factor": 32})") ==
        R"(["1 KiB","32 KiB","1 MiB"])");
  CHECK(log_range(R"({"from": "1 us", "to": "1 ms", "factor": 10})") ==
        R"(["1 us","10 us","100 us","1 ms"])");
  CHECK(log_range(R"({"from": "10 GB/s", "to": "50 GB/s", "factor": 2})") ==
        R"(["10 GB/s","20 GB/s","40 GB/s"])");
}

TEST_CASE("long ranges keep their last value") {
  CHECK_THAT(log_range(R"({"from": 1, "to": 1000000, "factor": 10})"),
             ContainsSubstring(",1000000]"));
  const input::Json json = input::parse_json(R"({"from": 0, "to": 1, "step": 0.001})");
  const auto values = expand_range(input::ObjectReader(json, ""));
  CHECK(values.size() == 1001);
  CHECK(values.back() == 1.0);
}

TEST_CASE("ranges may have the smallest and the largest double") {
  CHECK(range(R"({"from": 5e-324, "to": 5e-324, "step": 1})") == "[5e-324]");
  CHECK(range(R"({"from": 1.7976931348623157e308, "to": 1.7976931348623157e308, "step": 1})") ==
        "[1.7976931348623157e+308]");
}

TEST_CASE("integers beyond the precision of a double are written as doubles") {
  CHECK(range(R"({"from": 9007199254740991, "to": 9007199254740992, "step": 1})") ==
        "[9007199254740991,9007199254740992]");
  CHECK(range(R"({"from": 9223372036854775808, "to": 9223372036854775808, "step": 1})") ==
        "[9.22337203685478e+18]");
  CHECK(log_range(R"({"from": 1, "to": 9223372036854775808, "factor": 9223372036854775808})") ==
        "[1.0,9.22337203685478e+18]");
}

TEST_CASE("invalid ranges are refused") {
  const auto refused = [](auto expand, const std::string& text, const std::string& place,
                          const std::string& remedy) {
    check_refused([&] { expand(text); }, place, remedy);
  };
  refused(range, R"({"from": 9, "to": 1, "step": 1})", "/range/to", "is below 'from'");
  refused(range, R"({"from": 1, "to": 9, "step": 0})", "/range/step", "is not above 0");
  refused(range, R"({"from": 1, "to": 9, "step": -1})", "/range/step", "is not above 0");
  refused(range, R"({"from": 1, "to": 9})", "/range/step", "is missing");
  refused(range, R"({"from": 1, "to": 1e300, "step": 1})", "/range/to", "at most 10000000");
  refused(range, R"({"from": "1 us", "to": "1 MiB", "step": "1 us"})", "/range/to",
          "same dimension");
  refused(range, R"({"from": "1 us", "to": "9 us", "step": 1})", "/range/step", "same dimension");
  refused(range, R"({"from": "1 parsec", "to": "9 us", "step": 1})", "/range/from",
          "is not a quantity");
  refused(range, R"({"from": true, "to": 9, "step": 1})", "/range/from", "expected a number");
  refused(range, R"({"from": 1, "to": 9, "stepp": 1})", "/range/stepp", "did you mean 'step'");
  refused(log_range, R"({"from": 0, "to": 9, "factor": 2})", "/range/from", "is not above 0");
  refused(log_range, R"({"from": 1, "to": 9, "factor": 1})", "/range/factor", "above 1");
  refused(log_range, R"({"from": 1, "to": 9, "factor": "2 us"})", "/range/factor", "above 1");
  refused(log_range, R"({"from": 1, "to": 9, "factor": 1.0000000001})", "/range/to", "at most");
}

}  // namespace
}  // namespace equarx::sweep::range_test
