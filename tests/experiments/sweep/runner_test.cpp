#include "experiments/sweep/runner.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "experiments/sweep/work.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::runner_test {
namespace {

using namespace testing;

/// Two small points.
SweepPoints two_points(const std::string& sizes = R"(["64 KiB", "128 KiB"])") {
  input::Json json = sweep_json(R"([{"key": "/tensor/bytes", "values": )" + sizes + "}]");
  json["base"]["numerics"] = "off";
  json["base"]["tensor"] = {{"bytes", "64 KiB"}};
  return SweepPoints(sweep_of(json));
}

/// Points of several sweeps, each an experiment, as in a study.
class Experiments : public PointSet {
 public:
  explicit Experiments(std::vector<std::string> names) : names_(std::move(names)) {}

  std::size_t size() const override { return names_.size(); }
  std::string experiment(std::size_t point) const override { return names_.at(point); }
  std::vector<std::string> axis_keys() const override { return points_.axis_keys(); }
  input::Json axes(std::size_t) const override { return points_.axes(0); }
  input::Json config(std::size_t) const override { return points_.config(0); }

 private:
  std::vector<std::string> names_;
  SweepPoints points_ = two_points();
};

SweepOutcome run_into(SweepStore& store, const PointSet& points, std::size_t jobs = 1) {
  return run_sweep(points, store, {.jobs = jobs, .shard = {}, .retry = false},
                   [](const SweepStatus&) {});
}

std::vector<input::Json> lines_of(const std::filesystem::path& file) {
  std::vector<input::Json> all;
  std::istringstream stream(content(file));
  for (std::string line; std::getline(stream, line);) all.push_back(input::parse_json(line));
  return all;
}

TEST_CASE("results do not depend on the number of processes and threads") {
  input::Json json = sweep_json(R"([{"key": "/tensor/values/seed", "values": [1, 2]}])");
  const SweepPoints points(sweep_of(json));
  std::vector<std::string> texts;
  for (const std::size_t jobs : {1, 2, 6}) {  // with 6 jobs, each of two points gets 3 threads
    const TemporaryFolder folder;
    SweepStore store(folder.path());
    store.open();
    const SweepOutcome outcome = run_into(store, points, jobs);
    CHECK(outcome.status.computed == 2);
    keep_only(points, outcome.keyed, store);
    texts.push_back(content(store.file()));
  }
  CHECK(texts[0] == texts[1]);
  CHECK(texts[0] == texts[2]);
}

TEST_CASE("points with the most work are computed first, and reported in their order") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  const SweepOutcome outcome =
      run_into(store, two_points(R"(["64 KiB", "8 MiB", "1 MiB", "65536 B"])"));
  const std::vector<input::Json> lines = lines_of(store.file());
  REQUIRE(lines.size() == 6);  // two collectives of three points, as the last is the first
  CHECK(lines[0]["axes"]["/tensor/bytes"] == "8 MiB");
  CHECK(lines[2]["axes"]["/tensor/bytes"] == "1 MiB");
  CHECK(lines[4]["point"] == 0);
  REQUIRE(outcome.keyed.size() == 4);
  for (std::size_t point = 0; point < 4; ++point) CHECK(outcome.keyed[point].point == point);
  CHECK(outcome.keyed[0].key == outcome.keyed[3].key);
}

TEST_CASE("points of sweeps run on the direct engine, as many runs do") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  run_into(store, two_points());
  const input::Json line = lines_of(store.file()).front();
  CHECK(line["run"]["engine"] == "direct");
  CHECK(line["run"]["engine_reason"] == "one of many runs");
  CHECK(line["config"]["engine"] == "auto");
}

TEST_CASE("a point that needs more HBM than a chip has is a result, not a failure") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  const SweepPoints points = two_points(R"(["64 KiB", "64 GiB"])");
  const SweepOutcome outcome = run_into(store, points);
  CHECK(outcome.status.computed == 2);
  CHECK(outcome.status.does_not_fit == 1);
  CHECK(outcome.status.failed == 0);
  const input::Json line = lines_of(store.file()).back();
  CHECK(line["status"] == "does not fit");
  CHECK(line["needs_bytes"] == 2.0 * 64 * (1ULL << 30U));  // tensor and result
  CHECK_THAT(line["reason"].get<std::string>(), ContainsSubstring("HBM"));
  CHECK_FALSE(line.contains("error"));
  const std::string table = sweep_csv(points, outcome.keyed, store);
  CHECK_THAT(table, ContainsSubstring(",status,needs_bytes,reason,error\n") &&
                        ContainsSubstring(",does not fit,137438953472"));
  // Not computed again, even with --retry.
  const SweepOutcome again =
      run_sweep(points, store, {.jobs = 1, .shard = {}, .retry = true}, [](const SweepStatus&) {});
  CHECK(again.status.computed == 0);
  CHECK(again.status.does_not_fit == 1);
}

TEST_CASE("progress is weighted by the estimated work of the points") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  const SweepPoints points = two_points(R"(["64 KiB", "8 MiB", "65536 B"])");
  std::vector<SweepStatus> seen;
  run_sweep(points, store, {.jobs = 1, .shard = {}, .retry = false},
            [&](const SweepStatus& status) { seen.push_back(status); });
  const double small = estimate_work_s(points.config(0));
  const double whole = 2.0 * small + estimate_work_s(points.config(1));
  CHECK(seen.front().done_share == 0.0);
  CHECK_FALSE(seen.front().left_s);
  const auto first = std::ranges::find(seen, 1U, &SweepStatus::done);
  CHECK(first->done_share == Approx(1.0 - 2.0 * small / whole));  // the heaviest
  CHECK(first->left_s);
  CHECK(seen.back().done_share == Approx(1.0));  // the third is the first one
  CHECK(*seen.back().left_s == Approx(0.0).margin(1e-9));
}

TEST_CASE("equal configurations of two experiments have separate lines") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  const Experiments points({"one", "two"});
  const SweepOutcome outcome = run_into(store, points);
  CHECK(outcome.status.computed == 2);
  const std::vector<input::Json> lines = lines_of(store.file());
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["experiment"] == "one");
  CHECK(lines[3]["experiment"] == "two");
  CHECK(lines[0]["run"] == lines[2]["run"]);
  const std::string table = sweep_csv(points, outcome.keyed, store);
  CHECK_THAT(table, Catch::Matchers::StartsWith(
                        "point,key,experiment,/tensor/"
                        "bytes,hardware,topology,tensor_bytes,label,format,quantize,algorithm,"));
  CHECK_THAT(table, ContainsSubstring(",two,64 KiB,tpu-v5e,slice 4x2,65536,"));
}

TEST_CASE("lines of a sweep have no experiment") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  run_into(store, two_points());
  const std::vector<input::Json> lines = lines_of(store.file());
  CHECK(lines.size() == 4);  // two points of two collectives
  for (const input::Json& line : lines) CHECK_FALSE(line.contains("experiment"));
}

TEST_CASE("keep_only() keeps the lines of the given points, with their current axes") {
  const TemporaryFolder folder;
  SweepStore store(folder.path());
  store.open();
  run_into(store, two_points());
  const SweepPoints other = two_points(R"(["256 KiB", "131072 B"])");
  const SweepOutcome outcome = run_into(store, other);
  CHECK(outcome.status.computed == 1);  // the other equals an earlier point
  keep_only(other, outcome.keyed, store);
  const std::vector<input::Json> lines = lines_of(store.file());
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["axes"]["/tensor/bytes"] == "256 KiB");
  CHECK(lines[2]["point"] == 1);
  CHECK(lines[2]["axes"]["/tensor/bytes"] == "131072 B");
  CHECK(run_into(store, other).status.computed == 0);
}

}  // namespace
}  // namespace equarx::sweep::runner_test
