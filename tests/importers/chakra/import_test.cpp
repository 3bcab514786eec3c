#include "importers/chakra/import.hpp"

#include <fstream>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/chakra/file.hpp"
#include "importers/common/program_report.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/steps.hpp"

namespace equarx::imports::chakra_test {
namespace {

/// Exports the step of a configuration as trace files.
std::vector<TraceFile> exported(const config::StepConfig& config) {
  const ChakraExport made(config);
  std::vector<TraceFile> files;
  for (std::uint32_t chip = 0; chip < made.chips(); ++chip)
    files.push_back({trace_path("step", chip), made.trace(chip)});
  return files;
}

ChakraImportOptions options_for(const config::StepConfig& config) {
  ChakraImportOptions options;
  options.topology = "4x2";
  options.groups = ChakraExport(config).groups();
  for (const steps::MeshAxis& axis : config.mesh.axes)
    options.mesh.emplace_back(axis.name, axis.length);
  return options;
}

/// A step on eight chips: computes, gathers over four, sums over two, and fetches.
config::StepConfig step_config() {
  return config::read_step_config(input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "mesh": {"fsdp": 4, "data": 2},
    "step": {"tasks": [
      {"name": "gather {i}", "repeat": 3,
       "collective": {"kind": "all-gather", "axes": ["fsdp"], "bytes": "8 MiB"}},
      {"name": "forward {i}", "repeat": 3, "after": ["gather {i}"],
       "compute": {"flops": 2e11, "hbm_bytes": "1 MiB"}},
      {"name": "sum {i}", "repeat": 3, "after": ["forward {i}"],
       "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "2 MiB"}},
      {"name": "fetch", "host": {"direction": "from-host", "bytes": "1 MiB"}}]}})"));
}

double time_of(const config::StepConfig& config) {
  return step::run_step(step::make_plan(config), [](const std::string&) {}).runs.front().time_s;
}

TEST_CASE("an exported and imported step takes the same time") {
  const config::StepConfig config = step_config();
  const ImportedProgram program = import_chakra("step", exported(config), options_for(config));
  input::check_schema(program.step, "step");
  const config::StepConfig back = config::read_step_config(program.step);
  CHECK(time_of(back) == Approx(time_of(config)).epsilon(1e-9));
  CHECK(program.devices == 8);
  CHECK(program.size == "10 nodes in 8 traces");
  CHECK(program.totals.flops == 6e11);
  CHECK(program.totals.from_host_bytes == 1 << 20);
  CHECK(program.totals.collective_bytes == 3.0 * (10 << 20));
  REQUIRE(program.ops.size() == 2);
  CHECK(program.ops[0].group == "gather");
  CHECK(program.ops[0].axes == "fsdp");
  CHECK(program.ops[0].times == 3.0);
  CHECK(program.ops[0].quantized);
  CHECK(program.notes.empty());
  CHECK(summary_text(program).find("step: 10 nodes in 8 traces, for 8 chips") == 0);
}

TEST_CASE("groups of PyTorch metadata are read, and a group file overrides them") {
  const config::StepConfig config = step_config();
  std::vector<TraceFile> files = exported(config);
  for (std::uint32_t chip = 0; chip < files.size(); ++chip) {
    chakra::Trace trace = chakra::read_trace(files[chip].bytes);
    chakra::Node groups{.id = 1000, .kind = chakra::NodeKind::metadata};
    groups.inputs = R"(["[{"pg_name": "1", "ranks": [0, 1]}, {"pg_name": "9", "ranks": []}]"])";
    trace.nodes.push_back(groups);
    files[chip].bytes = chakra::write_trace(trace);
  }
  CHECK(import_chakra("step", files, options_for(config)).ops[0].skip_reason.empty());
}

TEST_CASE("one trace suffices if its collectives are over all chips") {
  config::StepConfig config = config::read_step_config(input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"slice": "4x2"}, "mesh": {"all": 8},
    "step": {"tasks": [{"name": "sum",
      "collective": {"kind": "all-reduce", "axes": ["all"], "bytes": "2 MiB"}}]}})"));
  ChakraImportOptions options;
  options.topology = "4x2";
  const std::vector<TraceFile> one = {exported(config).front()};
  CHECK(import_chakra("one", one, options).ops[0].chips == 8);
  options.dtype = numerics::ElementFormat::fp8_e4m3;
  CHECK_FALSE(import_chakra("one", one, options).ops[0].quantized);
}

TEST_CASE("traces are found by the prefix before the chip number") {
  const testing::TemporaryDirectory folder;
  const std::string prefix = (folder.path() / "run").string();
  const auto write = [](const std::string& path) { std::ofstream(path) << "bytes"; };
  for (const std::uint32_t chip : {0U, 1U, 3U}) write(trace_path(prefix, chip));
  const std::vector<TraceFile> files = read_traces(prefix);
  REQUIRE(files.size() == 2);
  CHECK(files[1].path == prefix + ".1.et");
  CHECK(files[1].bytes == "bytes");
  CHECK(read_traces(prefix + ".3.et").size() == 1);
}

TEST_CASE("invalid traces are rejected with the file or option") {
  const config::StepConfig config = step_config();
  const auto rejected = [&](const std::vector<TraceFile>& files, const ChakraImportOptions& options,
                            const std::string& part) {
    CHECK_THAT(testing::message_of([&] { import_chakra("step", files, options); }),
               ContainsSubstring(part));
  };
  const std::vector<TraceFile> good = exported(config);
  const ChakraImportOptions with = options_for(config);
  std::vector<TraceFile> cut = good;
  cut[3].bytes.pop_back();
  rejected(cut, with, "step.3.et: ends within the message at byte");
  cut.pop_back();
  rejected(cut, with, "--topology: there are traces of 7 chips, but the machine has 8");
  ChakraImportOptions wrong = with;
  wrong.groups = "[1]";
  rejected(good, wrong, "--groups: expected groups of chips");
  wrong.groups = R"({"1": [-1]})";
  rejected(good, wrong, "--groups: /1: '-1' is not a chip number");
  wrong.groups = R"({"1": [8]})";
  rejected(good, wrong, "group '1' contains chip 8");
  wrong = with;
  wrong.mesh = {{"x", 3}};
  rejected(good, wrong, "--mesh");
  wrong.topology = "";
  rejected(good, wrong, "--topology");
  CHECK_THAT(testing::message_of([] { read_traces("nowhere/run"); }),
             ContainsSubstring("nowhere/run.0.et does not exist; give the prefix before .0.et"));
}

}  // namespace
}  // namespace equarx::imports::chakra_test
