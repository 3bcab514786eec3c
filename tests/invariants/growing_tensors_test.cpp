// With default cuts, a larger tensor is never faster; with cuts by size alone, time would fall by
// up to 9 %.
#include <cmath>

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::growing_tensors_test {
namespace {

/// Tolerance: a larger tensor may be faster by this much, because of uneven parts and nearly equal
/// cuts.
constexpr double kRipple = 0.005;

input::Json experiment(const std::string& topology, const std::string& ring,
                       const std::string& format) {
  return {
      {"hardware", "tpu-v5e"},
      {"topology", input::parse_json(topology)},
      {"numerics", "off"},
      {"collectives",
       {{{"algorithm", format == "bf16" ? "ring" : "equarx"}, {"ring", ring}, {"format", format}},
        {{"label", "torus"}, {"algorithm", "torus"}, {"ring", ring}, {"format", format}}}}};
}

/// Largest relative speed-up of a larger tensor over any smaller one; sizes grow by `step`.
double worst_fall(input::Json json, std::size_t collective, double step) {
  json["collectives"] = input::Json::array({json["collectives"][collective]});
  constexpr double kLeast = 4.0 * 1024;
  constexpr double kMost = 256.0 * 1024 * 1024;
  double slowest_s = 0.0;
  double worst = 0.0;
  for (double bytes = kLeast; bytes <= kMost; bytes *= step) {
    json["tensor"]["bytes"] = fmt::format("{} B", 2 * std::llround(bytes / 2.0));
    const double time_s = run(json).runs.front().time_s;
    if (slowest_s > 0.0) worst = std::max(worst, 1.0 - time_s / slowest_s);
    slowest_s = std::max(slowest_s, time_s);
  }
  return worst;
}

TEST_CASE("a larger tensor takes no less time, for any choice of parts") {
  constexpr double kStep = 1.31;  // hits sizes near 3 and 5 times powers of two, and others
  for (const std::string slice : {"2x2", "4x2", "4x4"})
    for (const std::string ring : {"full-loop", "semi-loop"})
      for (const std::string format : {"bf16", "int8"}) {
        CAPTURE(slice, ring, format);
        CHECK(worst_fall(experiment(fmt::format(R"({{"slice": "{}"}})", slice), ring, format), 0,
                         kStep) <= kRipple);
      }
  for (const std::string format : {"bf16", "int8"}) {
    CAPTURE(format);
    CHECK(worst_fall(experiment(R"({"torus": "16x16"})", "full-loop", format), 1, 2.0 * kStep) <=
          kRipple);
  }
}

/// The whole grid takes minutes: invariants_test "[grid]" -s
TEST_CASE("the same in steps of one per cent, compared with cuts by size", "[.][grid]") {
  const auto compare = [](const std::string& topology, const std::string& ring,
                          const std::string& format, std::size_t collective) {
    constexpr double kStep = 1.01;
    input::Json json = experiment(topology, ring, format);
    const double chosen = worst_fall(json, collective, kStep);
    for (input::Json& one : json["collectives"]) one["cuts"] = "by-size";
    const double by_size = worst_fall(json, collective, kStep);
    WARN(fmt::format("{} {} {} {}: worst fall {:.2f} % by size, {:.2f} % chosen", topology,
                     collective == 0 ? "ring" : "torus", ring, format, 100.0 * by_size,
                     100.0 * chosen));
    CHECK(chosen <= kRipple);
  };
  for (const std::string format : {"bf16", "int8"}) {
    for (const std::string slice : {"2x2", "4x2", "4x4"})
      for (const std::string ring : {"full-loop", "semi-loop"})
        compare(fmt::format(R"({{"slice": "{}"}})", slice), ring, format, 0);
    compare(R"({"torus": "16x16"})", "full-loop", format, 1);
  }
}

}  // namespace
}  // namespace equarx::testing::growing_tensors_test
