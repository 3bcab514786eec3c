// Requirements on the paper's study over tensor sizes, beyond the rows that it compares.
#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/catch.hpp"

namespace equarx::invariants::paper_sizes_test {
namespace {

/// Both collectives use their fastest cuts, so their ratio need not rise where latency dominates.
constexpr double kRipple = 0.01;

TEST_CASE("on 4x2 the full loop neither gains nor loses up to 512 KiB, then rises to its plateau") {
  input::Json config = input::parse_json(
      input::read_file(EQUARX_SOURCE_DIR "/experiments/studies/equarx_paper/sizes.json"));
  config["simulation"] = "symmetric";  // the same timing, with three representative chips
  double previous = 0.0;
  for (std::uint64_t kib = 4; kib <= 256 * 1024; kib *= 2) {
    config["tensor"]["bytes"] = fmt::format("{} KiB", kib);
    const run::ExperimentResult result = run::run_experiment(
        plan::make_plan(config::read_config(config)), [](const std::string&) {});
    const run::RunResult& full_loop = result.runs.at(1);
    REQUIRE(full_loop.label == "full-loop");
    CAPTURE(kib);
    CHECK(full_loop.speedup.value() > previous * (1.0 - kRipple));
    if (kib <= 512) CHECK(full_loop.speedup.value() == Approx(1.0).epsilon(0.1));
    if (kib >= 32 * 1024) CHECK(full_loop.speedup.value() == Approx(1.8).epsilon(0.05));
    previous = full_loop.speedup.value();
  }
}

}  // namespace
}  // namespace equarx::invariants::paper_sizes_test
