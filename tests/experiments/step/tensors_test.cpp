#include "experiments/step/tensors.hpp"

#include <filesystem>

#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::tensors_test {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::good_step;
using testing::TemporaryDirectory;

const auto kQuiet = [](const std::string&) {};

/// Four buckets of 64 KiB along "data" and, in the same group, one of 32 KiB along "fsdp"; two
/// variants that differ in the buckets only.
input::Json two_collectives() {
  input::Json json = good_step();
  json["step"]["tasks"][2]["collective"]["bytes"] = "64 KiB";
  json["step"]["tasks"].push_back(input::parse_json(
      R"({"name": "last", "group": "bucket",
          "collective": {"kind": "reduce-scatter", "axes": ["fsdp"], "bytes": "32 KiB"}})"));
  json["values"] = input::parse_json(R"([{"seed": 7, "sample": 1}])");
  return json;
}

/// Runs with tensor files at `path`, and keeps them.
StepResult run_with_files(const input::Json& json, const fs::path& path, bool inputs = false) {
  const StepPlan plan = make_plan(config::read_step_config(json));
  run::TensorFiles files(path, tensor_sets(plan), inputs);
  StepResult result = run_step(plan, kQuiet, {.tensors = &files});
  CHECK_FALSE(fs::exists(files.all_paths().front()));
  files.keep();
  return result;
}

/// Writes the tensors of a collective of a step as an experiment of its own.
void write_alone(const config::StepConfig& config, const fs::path& folder) {
  input::Json alone = input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"torus": "4"},
    "tensor": {"bytes": "64 KiB", "values": {"seed": 7}}, "collectives": []})");
  for (const config::StepVariant& variant : config.variants) {
    input::Json collective =
        config::collective_json(variant.collectives.front(), collectives::Collective::all_reduce);
    collective["label"] = variant.label;
    alone["collectives"].push_back(collective);
  }
  const plan::Plan plan = plan::make_plan(config::read_config(alone));
  run::TensorFiles files(folder, {run::tensor_set(plan)}, true);
  run::run_experiment(plan, kQuiet, {.sink = &files.sink()});
  files.keep();
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder));
  std::ranges::sort(names);
  return names;
}

TEST_CASE("the tensors of a step's collective are those of the same experiment") {
  const TemporaryDirectory folder;
  const input::Json json = two_collectives();
  run_with_files(json, folder.path() / "step", true);
  write_alone(config::read_step_config(json), folder.path() / "alone");
  const std::vector<std::string> alone = files_in(folder.path() / "alone");
  CHECK(alone.size() == 2 + 1 + 4);
  for (const std::string& name : alone)
    CHECK(content_of(folder.path() / "step/bucket_1" / name) ==
          content_of(folder.path() / "alone" / name));
  CHECK(content_of(folder.path() / "step/bucket_1/int8.npy") !=
        content_of(folder.path() / "step/bucket_1/bf16.npy"));
}

TEST_CASE("every variant has a file, even if it computes the same as another") {
  const TemporaryDirectory folder;
  run_with_files(two_collectives(), folder.path());
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"bucket_1/bf16.npy", "bucket_1/exact_sum.npy", "bucket_1/int8.npy",
                                 "bucket_2/bf16.npy", "bucket_2/exact_sum.npy",
                                 "bucket_2/int8.npy"});
  const std::string bytes = content_of(folder.path() / "bucket_2/bf16.npy");
  CHECK(bytes == content_of(folder.path() / "bucket_2/int8.npy"));
  CHECK(bytes.find_first_not_of('\0', 128) != std::string::npos);  // after the header
}

TEST_CASE("only collectives with values have tensors, and writing them changes no result") {
  const TemporaryDirectory folder;
  input::Json json = two_collectives();
  json["values"][0]["where"] = {{"axis", "data"}};
  const StepResult with = run_with_files(json, folder.path());
  CHECK(files_in(folder.path()).size() == 3);
  const StepResult without = run_step(make_plan(config::read_step_config(json)), kQuiet);
  for (std::size_t i = 0; i < with.runs.size(); ++i)
    CHECK(with.runs[i].error->mean_nmse == without.runs[i].error->mean_nmse);
}

TEST_CASE("a workload writes the tensors of its AllReduces") {
  const TemporaryDirectory folder;
  const input::Json json = input::parse_json(R"({
    "hardware": "tpu-v6e", "topology": {"torus": "4"},
    "workload": {"model": "gemma3-12b", "phase": "decode", "context": 64, "batch": 1},
    "collectives": [{"label": "a/b", "algorithm": "ring"}]})");
  run_with_files(json, folder.path());
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"sum_activations/a_b.npy", "sum_activations/exact_sum.npy"});
}

TEST_CASE("steps without tensors to write are refused with place and remedy") {
  const auto refused = [](const input::Json& json, const std::string& pointer,
                          const std::string& words) {
    const StepPlan plan = make_plan(config::read_step_config(json));
    testing::check_refused([&] { tensor_sets(plan); }, pointer, words);
  };
  input::Json json = two_collectives();
  json["values"][0]["sample"] = 0.5;
  refused(json, "/values", "'bucket' are only partly computed; add \"sample\": 1");
  json.erase("values");
  refused(json, "/values", "is missing, so there are no tensors to write; add it");
  json["step"]["tasks"] = input::Json::array({json["step"]["tasks"][0]});
  json.erase("variants");
  refused(json, "/step", "has no collectives");
  json = input::parse_json(R"({
    "hardware": "tpu-v6e", "topology": {"torus": "4"}, "numerics": "off",
    "workload": {"model": "gemma3-12b", "phase": "decode", "context": 64, "batch": 1},
    "collectives": [{"algorithm": "ring"}]})");
  refused(json, "/numerics", "switch it on");
  json["numerics"] = "on";
  json["tensor"] = {{"sample", 0.5}};
  refused(json, "/tensor/sample", "set it to 1");
}

}  // namespace
}  // namespace equarx::step::tensors_test
