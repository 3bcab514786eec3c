#include "experiments/report/streams.hpp"

#include <string>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/reports.hpp"

namespace equarx::report::streams_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

std::string drawn(const input::Json& tasks) {
  return draw_streams(tasks, input::Json::array({"work"}), "a <caption>");
}

TEST_CASE("each stream has a lane, each task a bar, and the critical path an underline") {
  const input::Json variant = testing::synthetic_step()["variants"][0];
  const std::string svg = drawn(variant["tasks"]);
  CHECK_THAT(svg, ContainsSubstring("<svg xmlns") && ContainsSubstring(">core</text>") &&
                      ContainsSubstring(">data &amp; more</text>") &&
                      ContainsSubstring("a &lt;caption&gt;") &&
                      ContainsSubstring(">4.000 ms</text>"));
  // Background, two bars, two legend entries; underline and legend of the critical path.
  CHECK(count(svg, "<rect") == 7);
  CHECK(count(svg, "#000000") == 2);
  // Half of the width, and three quarters starting at a quarter.
  CHECK_THAT(svg, ContainsSubstring("x=\"166.00\" y=\"30.0\" width=\"479.70\"") &&
                      ContainsSubstring("x=\"406.00\" y=\"64.0\" width=\"719.70\""));
}

TEST_CASE("indistinguishably thin bars are merged") {
  input::Json tasks = input::Json::array();
  for (int i = 0; i < 5000; ++i)
    tasks.push_back({{"name", std::to_string(i)},
                     {"group", "many"},
                     {"stream", "core"},
                     {"start_s", 1e-6 * i},
                     {"end_s", 1e-6 * (i + 1)}});
  CHECK(count(drawn(tasks), "<rect") < 1500);
}

TEST_CASE("a step of zero time has a picture, malformed tasks have none") {
  const input::Json nothing = input::Json::parse(
      R"([{"name": "work", "group": "g", "stream": "s", "start_s": 0.0, "end_s": 0.0}])");
  CHECK_THAT(drawn(nothing), ContainsSubstring("</svg>"));
  CHECK_THROWS_AS(drawn(input::Json::parse(R"([{"name": "work"}])")), input::Json::exception);
}

}  // namespace
}  // namespace equarx::report::streams_test
