// Which chips are simulated, and that it makes no difference.
#include "experiments/plan/machine.hpp"

#include <fmt/format.h>

#include "experiments/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan {
namespace {

using testing::check_refused;
using testing::plan_of;
using testing::run;

input::Json tori(const std::string& hardware, const std::string& kind, const std::string& lengths,
                 const std::string& bytes) {
  return {{"hardware", hardware},
          {"topology", {{kind, lengths}}},
          {"tensor", {{"bytes", bytes}}},
          {"collectives",
           {{{"algorithm", "torus"}},
            {{"algorithm", "torus"}, {"format", "int8"}},
            {{"label", "semi-loop"}, {"algorithm", "torus"}, {"ring", "semi-loop"}}}},
          {"numerics", "off"}};
}

TEST_CASE("representatives have the timing of all chips of a torus") {
  const std::vector<std::vector<std::string>> machines = {
      {"tpu-v4", "slice", "4x4x4", "1 MiB"},   {"tpu-v5e", "slice", "16x16", "256 KiB"},
      {"tpu-v5p", "slice", "4x4x4", "1 MiB"},  {"tpu-v5e", "torus", "5x3", "100 kB"},
      {"tpu-v5e", "torus", "2x2x3", "100 kB"}, {"tpu-v5e", "torus", "1x6", "100 kB"},
      {"tpu-v7", "slice", "2x2x1", "100 kB"}};
  for (const auto& machine : machines) {
    CAPTURE(machine);
    input::Json json = tori(machine[0], machine[1], machine[2], machine[3]);
    const run::ExperimentResult symmetric = run(json);
    json["simulation"] = "full";
    const run::ExperimentResult full = run(json);
    for (std::size_t i = 0; i < full.runs.size(); ++i) {
      CAPTURE(full.runs[i].label);
      CHECK(symmetric.runs[i].symmetric);
      CHECK_FALSE(full.runs[i].symmetric);
      CHECK(symmetric.runs[i].time_s == Approx(full.runs[i].time_s).epsilon(1e-9));
      CHECK(symmetric.runs[i].lower_bound_s == Approx(full.runs[i].lower_bound_s).epsilon(1e-12));
      CHECK(symmetric.runs[i].wire_bytes_per_link == full.runs[i].wire_bytes_per_link);
      CHECK(symmetric.runs[i].chips == full.runs[i].chips);
      CHECK(symmetric.runs[i].messages < full.runs[i].messages);
      for (const run::LinkUse& link : symmetric.runs[i].links) {
        CHECK(link.from.empty());
        CHECK(link.bytes <= full.runs[i].wire_bytes_per_link);
      }
    }
  }
}

TEST_CASE("a large AllReduce on a torus comes within 5 % of all links of all axes at work") {
  for (const auto& [hardware, lengths, axes] :
       std::vector<std::tuple<std::string, std::string, double>>{
           {"tpu-v5e", "16x16", 2.0}, {"tpu-v4", "4x4x4", 3.0}, {"tpu-v5p", "8x8x8", 3.0}}) {
    CAPTURE(hardware, lengths);
    input::Json json = tori(hardware, "slice", lengths, "256 MiB");
    const Plan plan = plan_of(json);
    const run::RunResult one = run(json).runs[0];
    const double directions = 2.0 * axes;
    const double bound = 2.0 * static_cast<double>(plan.config.tensor.bytes()) *
                         (1.0 - 1.0 / one.chips) / (directions * plan.config.chip.link_rate());
    CHECK(one.time_s >= bound * (1.0 - 1e-9));
    CHECK(one.time_s <= 1.05 * bound);
  }
}

TEST_CASE("a pod is planned without its chips") {
  const Plan plan = plan_of(tori("tpu-v7", "torus", "16x16x36", "32 MiB"));
  for (const PlannedCollective& planned : plan.collectives) {
    CHECK(planned.candidates.front().program.ranks() == 9216);
    CHECK(planned.candidates.front().simulated.machine.ranks() <= 7);
  }
}

TEST_CASE("a ring along an axis without wraparound is folded, and simulated in full") {
  const Plan plan = plan_of(tori("tpu-v5e", "slice", "4x4", "1 MiB"));
  const SimulatedMachine& simulated = plan.collectives[0].candidates.front().simulated;
  CHECK_FALSE(simulated.symmetric);
  std::size_t longest = 0;
  for (const auto& ways : simulated.machine.ways)
    for (const sim::Way& way : ways) longest = std::max(longest, way.route.size());
  CHECK(longest == 2);
}

TEST_CASE("chips that would not fit in memory are refused before they are made") {
  input::Json json = tori("tpu-v4", "torus", "48x48x48", "1 MiB");
  CHECK_NOTHROW(plan_of(json));
  json["simulation"] = "full";
  check_refused([&] { plan_of(json); }, "/simulation", "simulating all 110592 chips takes");
  json["topology"] = {{"torus", "4096x4096"}};
  json["simulation"] = "auto";
  CHECK_NOTHROW(plan_of(json));
  json["collectives"] = {{{"algorithm", "recursive-doubling"}}};
  check_refused([&] { plan_of(json); }, "/simulation", "this computer has");
}

}  // namespace
}  // namespace equarx::plan
