// Machines that are the same however they are written.
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/invariants/machine_cases.hpp"

namespace equarx::testing::axis_order_test {
namespace {

input::Json timed(const std::string& topology, const std::string& collective) {
  input::Json json = experiment(topology, collective);
  json["tensor"] = {{"bytes", "1 MiB"}};
  json["numerics"] = "off";
  return json;
}

TEST_CASE("the order in which the axes of a grid are written changes no time") {
  for (const auto& [one, other] : {std::pair{R"({"torus": "2x8"})", R"({"torus": "8x2"})"},
                                   std::pair{R"({"torus": "4x8"})", R"({"torus": "8x4"})"},
                                   std::pair{R"({"mesh": "2x4"})", R"({"mesh": "4x2"})"},
                                   std::pair{R"({"torus": "2x4x8"})", R"({"torus": "8x2x4"})"}})
    for (const std::string collective :
         {"all-reduce", "reduce-scatter", "all-gather", "all-to-all"}) {
      CAPTURE(one, other, collective);
      input::Json first = timed(one, collective);
      input::Json second = timed(other, collective);
      add_algorithms(first, "bf16");
      add_algorithms(second, "bf16");
      const run::ExperimentResult here = run(first);
      const run::ExperimentResult there = run(second);
      REQUIRE(here.runs.size() == there.runs.size());
      for (std::size_t i = 0; i < here.runs.size(); ++i) {
        CAPTURE(here.runs[i].label);
        // Rings along the axes take them in turn as written, which matters to small tensors.
        const bool along_axes = here.runs[i].algorithm->layout == collectives::RankLayout::grid;
        const double relative = along_axes ? 5e-3 : 1e-9;
        CHECK(here.runs[i].time_s == Approx(there.runs[i].time_s).epsilon(relative));
      }
    }
}

TEST_CASE("an AllToAll takes longer on a longer ring, whether its length is even or odd") {
  double shorter_s = 0.0;
  for (const int chips : {3, 4, 5, 6, 7, 8, 9, 16, 17}) {
    CAPTURE(chips);
    input::Json json = timed(R"({"ring": )" + std::to_string(chips) + "}", "all-to-all");
    json["tensor"] = {{"bytes", "64 MiB"}};
    json["collectives"] = {{{"label", "direct"}, {"algorithm", "direct"}}};
    const double time_s = run(json).runs.front().time_s;
    CHECK(time_s > shorter_s);
    shorter_s = time_s;
  }
}

TEST_CASE("an AllToAll on an even ring takes its volume over four links of a chip") {
  // jax-ml's scaling book: V / (4 W), with W the rate of a link in one direction; here the volume
  // that stays on the chip is not sent, and both directions carry as much.
  for (const double chips : {4.0, 8.0, 16.0}) {
    CAPTURE(chips);
    input::Json json =
        timed(R"({"ring": )" + std::to_string(static_cast<int>(chips)) + "}", "all-to-all");
    json["tensor"] = {{"bytes", "64 MiB"}};
    json["hardware"] = {{"based_on", "tpu-v5e"}, {"shared_link_efficiency", 1}};
    json["collectives"] = {{{"label", "direct"}, {"algorithm", "direct"}}};
    const run::ExperimentResult result = run(json);
    const double link_rate = result.config.chip.link_rate();
    const double expected_s = 67108864.0 * chips / 8.0 / link_rate;
    CHECK(result.runs.front().time_s == Approx(expected_s).epsilon(0.06));
  }
}

}  // namespace
}  // namespace equarx::testing::axis_order_test
