// The algorithm of docs/add_an_algorithm.md, extracted from the page, runs like any of the table.
#include "models/collectives/pass_around.hpp"

#include <cstdint>
#include <string>

#include "experiments/config/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::docs::pass_around_test {
namespace {

constexpr std::uint32_t kRows = 64;
constexpr std::uint32_t kColumns = 1024;

/// The page's row, with the estimates of one-shot.
const collectives::AlgorithmInfo& pass_around() {
  static const collectives::AlgorithmInfo row = [] {
    collectives::AlgorithmInfo made = *collectives::find_algorithm("one-shot");
    made.name = "pass-around";
    made.layout = collectives::RankLayout::ring;
    made.make = collectives::make_pass_around;
    return made;
  }();
  return row;
}

/// Both on a ring of chips: one-shot, which sums the same terms in the same order, and the example.
run::ExperimentResult run_both(std::uint32_t chips, const std::string& format) {
  input::Json json = testing::good_config();
  json["topology"] = {{"ring", chips}};
  json["tensor"]["shape"] = {kRows, kColumns};
  const input::Json one_shot = {
      {"label", "one-shot"}, {"algorithm", "one-shot"}, {"format", format}};
  json["collectives"] = {one_shot, one_shot};
  json["collectives"][1]["label"] = "pass-around";
  json["baseline"] = "one-shot";
  config::ExperimentConfig config = config::read_config(json);
  // if it were in the table, its name would be enough
  config.collectives[1].algorithm = &pass_around();
  return run::run_experiment(plan::make_plan(config), [](const std::string&) {});
}

TEST_CASE("pass-around sums like one-shot, bit for bit, over one link to each side") {
  for (const std::uint32_t chips : {2U, 3U, 8U})
    for (const std::string format : {"bf16", "int8", "mxfp4"}) {
      INFO(format << " on " << chips << " chips");
      const run::RunResult passed = run_both(chips, format).runs[1];
      CHECK(passed.algorithm->name == "pass-around");
      CHECK(passed.numerics->against_baseline->mse == 0.0);
      CHECK(passed.numerics->ranks_identical);
      CHECK(passed.symmetric);
      CHECK(passed.time_s > passed.lower_bound_s);
    }
}

TEST_CASE("pass-around sends every tensor but the last one's over each link") {
  constexpr std::uint64_t kTensorBytes = 2 * std::uint64_t{kRows} * kColumns;  // of bf16
  for (const std::uint32_t chips : {2U, 3U, 8U})
    CHECK(run_both(chips, "bf16").runs[1].wire_bytes_per_link == (chips - 1) * kTensorBytes);
}

}  // namespace
}  // namespace equarx::docs::pass_around_test
