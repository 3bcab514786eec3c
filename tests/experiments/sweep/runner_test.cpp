#include "experiments/sweep/runner.hpp"

#include <algorithm>

#include "experiments/input/json.hpp"
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
  for (const input::Json& line : lines_of(store.file())) CHECK_FALSE(line.contains("experiment"));
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
