#include "experiments/tune_step/candidates.hpp"

#include <cmath>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_step/tuned_step.hpp"
#include "tests/support/errors.hpp"

namespace equarx::tune_step::candidates_test {
namespace {

constexpr double kNmse = 1e-3;  // 30 dB

tune::TuneOptions within(double nmse, std::vector<std::string> formats) {
  tune::TuneOptions options = with_formats(std::move(formats));
  options.limits.max_nmse = nmse;
  options.limits.error_option = "--max-nmse";
  return options;
}

GroupCandidates candidates_of(const input::Json& json, const std::string& name,
                              const tune::TuneOptions& options) {
  const config::StepConfig config = config::read_step_config(json);
  step::Planner planner(config);
  for (const CollectiveGroup& group : collective_groups(config))
    if (group.name == name) {
      TunedExperiments tuned;
      return find_candidates(config, group, options, planner, tuned, [](const std::string&) {});
    }
  FAIL("no such group");
  return {};
}

TEST_CASE("candidates are within the limit, and none dominates another in time and core time") {
  const GroupCandidates found =
      candidates_of(exposed_step(), "bucket", within(kNmse, {"int8", "int4", "bf16"}));
  REQUIRE(found.list.size() > 2);
  CHECK(found.baseline_within);
  CHECK(found.list.front().label == "baseline");
  for (std::size_t i = 0; i < found.list.size(); ++i) {
    const StepCandidate& candidate = found.list[i];
    CAPTURE(candidate.label);
    CHECK(candidate.nmse <= kNmse);
    CHECK(candidate.nmse > 0.0);
    CHECK(candidate.collectives.size() == 1);
    CHECK(candidate.isolated_s > 0.0);
    CHECK(candidate.core_s > 0.0);
    CHECK(candidate.collectives.front().format.name != "int4");
    for (std::size_t other = 1; other < found.list.size(); ++other)
      if (other != i)
        CHECK_FALSE((candidate.isolated_s <= found.list[other].isolated_s &&
                     candidate.core_s <= found.list[other].core_s));
  }
}

TEST_CASE("times are sums over all tasks and collectives of the group") {
  input::Json twice = exposed_step();
  twice["step"]["tasks"][3]["repeat"] = 8;
  twice["step"]["tasks"][2]["repeat"] = 8;
  const tune::TuneOptions options = within(kNmse, {"int8"});
  const StepCandidate once_candidate =
      candidates_of(exposed_step(), "bucket", options).list.front();
  const StepCandidate twice_candidate = candidates_of(twice, "bucket", options).list.front();
  CHECK(twice_candidate.isolated_s == Approx(2.0 * once_candidate.isolated_s));
  CHECK(twice_candidate.core_s == Approx(2.0 * once_candidate.core_s));
  CHECK(twice_candidate.nmse == once_candidate.nmse);

  input::Json two_sizes = exposed_step();
  two_sizes["step"]["tasks"].push_back(
      {{"name", "small"},
       {"group", "bucket"},
       {"collective", {{"kind", "all-reduce"}, {"axes", {"data"}}, {"bytes", "1 MiB"}}}});
  const GroupCandidates both = candidates_of(two_sizes, "bucket", options);
  CHECK(both.list.front().collectives.size() == 2);
  CHECK(both.list.front().isolated_s > once_candidate.isolated_s);
  CHECK(both.list.front().isolated_s < twice_candidate.isolated_s);
}

TEST_CASE("collectives without a reduction have candidates as well") {
  input::Json moved = exposed_step();
  moved["step"]["tasks"][3]["collective"]["kind"] = "all-to-all";
  const GroupCandidates found = candidates_of(moved, "bucket", within(kNmse, {"int8"}));
  REQUIRE(found.list.size() > 1);
  CHECK(found.list.back().nmse > 0.0);
}

TEST_CASE("a baseline above the error limit is not allowed") {
  input::Json coarse = exposed_step();
  coarse["variants"] =
      input::Json::parse(R"([{"label": "int4", "quantize": [{"format": "int4"}]}])");
  const GroupCandidates found = candidates_of(coarse, "bucket", within(kNmse, {"int8", "bf16"}));
  CHECK_FALSE(found.baseline_within);
  CHECK(found.list.front().nmse > kNmse);
  CHECK(found.list.size() > 1);
  testing::check_refused([&] { candidates_of(coarse, "bucket", within(kNmse, {"int4"})); },
                         "--max-nmse", "no configuration of 'bucket' is accurate enough");
}

}  // namespace
}  // namespace equarx::tune_step::candidates_test
