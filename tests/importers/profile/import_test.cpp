#include "importers/profile/import.hpp"

#include <map>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/profile/report.hpp"
#include "tests/catch.hpp"
#include "tests/importers/profile/traces.hpp"
#include "tests/support/errors.hpp"

namespace equarx::imports::profile_import_test {
namespace {

using Catch::Matchers::WithinRel;
using equarx::testing::message_of;
using input::Json;
using profile::testing::args_of;
using profile::testing::kernel;
using profile::testing::run_of;
using profile::testing::sum_of_two;
using profile::testing::trace_of;

using Files = std::map<std::string, std::string>;

ImportedProfile imported(const Files& files, ProgramOptions options,
                         Profiler profiler = Profiler::kineto) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : files) paths.push_back(path);
  return import_profile(
      profiler, paths, [&](const std::string& path) { return files.at(path); }, options);
}

ProgramOptions on_nodes(const std::string& topology) {
  ProgramOptions options;
  options.hardware = "h100";
  options.topology = topology;
  return options;
}

step::StepResult simulated(const Json& step) {
  return step::run_step(step::make_plan(config::read_step_config(step)), [](const std::string&) {});
}

TEST_CASE("a profile with the times of a simulated step has a ratio of 1") {
  const step::StepResult run = simulated(input::parse_json(R"({
    "hardware": "h100", "topology": {"switch": 8}, "mesh": {"data": 4, "tensor": 2},
    "step": {"tasks": [
      {"name": "sum", "collective": {"kind": "all-reduce", "axes": ["tensor"], "bytes": "8 MiB"}},
      {"name": "gather", "after": ["sum"],
       "collective": {"kind": "all-gather", "axes": ["data"], "bytes": "64 MiB"}},
      {"name": "scatter", "after": ["gather"],
       "collective": {"kind": "reduce-scatter", "axes": ["data", "tensor"], "bytes": "32 MiB"}}]}})"));
  const auto us = [&](std::size_t task) {
    return 1e6 * run.runs.front().groups.at(task).isolated_s;
  };
  constexpr long kMi = 1 << 20;
  const ImportedProfile made = imported(
      {{"rank5",
        trace_of({kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 0, us(0),
                         args_of("allreduce", 4 * kMi, 4 * kMi, "BFloat16", 2, "[4, 5]", "tp")),
                  kernel("ncclDevKernel_AllGather_RING_LL(x)", 1e5, us(1),
                         args_of("_allgather_base", 8 * kMi, 32 * kMi, "BFloat16", 4,
                                 "[1, 3, 5, 7]", "dp")),
                  kernel("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", 2e5, us(2),
                         args_of("_reduce_scatter_base", 16 * kMi, 2 * kMi, "BFloat16", 8,
                                 "[0, 1, 2, 3, 4, 5, 6, 7]"))},
                 run_of(5, 8))}},
      on_nodes("switch:8"));
  const Json json = to_json(made, simulated(made.program.step));
  REQUIRE(json["collectives"].size() == 3);
  for (const Json& row : json["collectives"]) {
    CAPTURE(row.dump());
    CHECK_THAT(row["ratio"].get<double>(), WithinRel(1.0, 1e-9));
    CHECK(row["formats"].size() == 1);
  }
  CHECK(json["notes"].empty());
}

TEST_CASE("groups that do not tile the machine are simulated alone") {
  const ImportedProfile made = imported(
      {{"x",
        trace_of({kernel("nccl", 0, 9, args_of("allreduce", 4096, 4096, "Float", 3, "[0, 1, 2]"))},
                 run_of(0, 4))}},
      on_nodes("switch:4"));
  CHECK(made.program.ops.at(0).skip_reason.empty());
  CHECK(made.program.ops.at(0).axes == "groups of 3");
  CHECK(made.program.notes.size() == 1);
}

TEST_CASE("profiles of several ranks are compared by the shortest time") {
  const Files files = {{"0", trace_of({sum_of_two(0, 50)}, run_of(0, 2))},
                       {"1", trace_of({sum_of_two(40, 10)}, run_of(1, 2))}};
  const ImportedProfile made = imported(files, on_nodes("switch:2"));
  CHECK(made.devices == 2);
  REQUIRE(made.rows.size() == 1);
  CHECK(made.rows[0].times == 1);
  CHECK_THAT(made.rows[0].median_s, WithinRel(10e-6, 1e-9));
}

TEST_CASE("a profile is named by its file, or standard input") {
  const std::string text = trace_of({sum_of_two(0, 50)}, run_of(0, 2));
  CHECK(imported({{"a/b.json", text}}, on_nodes("switch:2")).program.name == "b.json");
  CHECK(imported({{"-", text}}, on_nodes("switch:2")).program.name == "standard input");
  CHECK_THAT(message_of([] {
               imported({{"-", ""}}, on_nodes("switch:2"));
             }),
             ContainsSubstring("profile from standard input: is truncated"));
}

TEST_CASE("profiles of another machine and wrong files are refused in one line") {
  const std::string two = trace_of({sum_of_two(0, 50)}, run_of(0, 2));
  const auto read = [&](const Files& files, const std::string& topology) {
    return message_of([&] { imported(files, on_nodes(topology)); });
  };
  CHECK_THAT(read({{"x", two}}, "switch:8"),
             ContainsSubstring("--topology: the profile is of a run on 2 chips, but the machine "
                               "has 8"));
  CHECK_THAT(read({{"x", two}}, ""), ContainsSubstring("--topology: give the machine"));
  CHECK_THAT(read({{"x", two}, {"y", two}}, "switch:2"), ContainsSubstring("y: is of rank 0"));
  CHECK_THAT(read({{"x", two}, {"y", "\x1f\x8b"}}, "switch:2"),
             ContainsSubstring("y: is compressed; gunzip it first"));
}

TEST_CASE("profiles without a collective that can be simulated have no step") {
  const ImportedProfile made = imported(
      {{"x", trace_of({kernel("nccl", 0, 9, args_of("barrier", 1, 1, "Float", 2, "[0, 1]"))})}},
      on_nodes("switch:2"));
  CHECK(made.program.step->is_null());
  CHECK_THAT(to_table(made, std::nullopt), ContainsSubstring("Not simulated: barrier (1 x)"));
}

}  // namespace
}  // namespace equarx::imports::profile_import_test
