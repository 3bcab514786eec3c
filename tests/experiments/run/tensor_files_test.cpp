#include "experiments/run/tensor_files.hpp"

#include <cstring>

#include "base/input/json.hpp"
#include "experiments/run/experiment.hpp"
#include "models/tensors/tensor_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::run::tensor_files_test {
namespace {

using testing::changed;
using testing::good_config;
using testing::TemporaryDirectory;

/// Runs with tensor files in `folder`, and keeps them.
ExperimentResult run_with_files(const input::Json& json, const std::filesystem::path& folder,
                                bool inputs = false) {
  const plan::Plan plan = plan::make_plan(config::read_config(json));
  TensorFiles files(folder, {tensor_set(plan)}, inputs);
  ExperimentResult result =
      run_experiment(plan, [](const std::string&) {}, {.sink = &files.sink()});
  files.keep();
  return result;
}

std::vector<float> values_in(const std::filesystem::path& path) {
  const tensors::TensorFile file = tensors::TensorFile::open(path);
  std::vector<float> values(file.elements());
  file.read(0, values);
  return values;
}

/// Elements of a .npy file of FP64 with a header of 128 bytes.
std::vector<double> doubles_in(const std::filesystem::path& path) {
  const std::string text = testing::content_of(path);
  constexpr std::size_t kHeader = 128;
  std::vector<double> values((text.size() - kHeader) / sizeof(double));
  std::memcpy(values.data(), text.data() + kHeader, values.size() * sizeof(double));
  return values;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST_CASE("the errors of a result equal those of its file against the exact sum") {
  for (const std::string dtype : {"bf16", "fp32", "fp16"}) {
    CAPTURE(dtype);
    const TemporaryDirectory folder;
    const ExperimentResult result =
        run_with_files(changed("/tensor/dtype", dtype), folder.path() / "new");
    CHECK(names_in(folder.path() / "new") ==
          std::vector<std::string>{"bf16.npy", "exact_sum.npy", "int8.npy"});
    const std::vector<double> exact = doubles_in(folder.path() / "new/exact_sum.npy");
    for (const RunResult& run : result.runs) {
      if (dtype == "bf16") {  // .npy has no bf16: it is stored as integers
        const tensors::TensorFile file =
            tensors::TensorFile::open(folder.path() / "new" / (run.label + ".npy"));
        CHECK(file.dtype() == tensors::FileType::bf16);
      }
      const std::vector<float> values = values_in(folder.path() / "new" / (run.label + ".npy"));
      REQUIRE(values.size() == exact.size());
      double squares = 0.0;
      for (std::size_t i = 0; i < exact.size(); ++i)
        squares += (values[i] - exact[i]) * (values[i] - exact[i]);
      CHECK(run.numerics->against_exact.mse ==
            Approx(squares / static_cast<double>(exact.size())).epsilon(1e-9));
    }
  }
}

TEST_CASE("the exact sum is the sum of the inputs, and writing files changes no result") {
  const TemporaryDirectory folder;
  const input::Json json = changed("/tensor/dtype", "fp32");
  const ExperimentResult result = run_with_files(json, folder.path(), true);
  std::vector<double> sums(result.config.tensor.elements);
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const auto values = values_in(folder.path() / ("input_" + std::to_string(rank) + ".npy"));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  CHECK(doubles_in(folder.path() / "exact_sum.npy") == sums);
  const ExperimentResult without = testing::run(json);
  for (std::size_t i = 0; i < without.runs.size(); ++i)
    CHECK(result.runs[i].numerics->against_exact.mse ==
          without.runs[i].numerics->against_exact.mse);
}

TEST_CASE("collectives without sums have no exact sum, and an AllToAll a tensor per rank") {
  const TemporaryDirectory folder;
  input::Json json = good_config();
  json["collective"] = "all-to-all";
  json["collectives"] = {{{"algorithm", "direct"}, {"label", "direct"}}};
  json.erase("baseline");
  const ExperimentResult result = run_with_files(json, folder.path());
  CHECK(names_in(folder.path()) == std::vector<std::string>{"direct.npy"});
  CHECK(tensors::TensorFile::open(folder.path() / "direct.npy").elements() ==
        8 * result.config.tensor.elements);
}

TEST_CASE("a single file has the unchanged labels and the same elements") {
  const TemporaryDirectory folder;
  input::Json json = good_config();
  json["collectives"][0]["label"] = "a/b";
  json["collectives"][1]["label"] = "__metadata__";
  json["baseline"] = "a/b";
  const std::filesystem::path one = folder.path() / "all.safetensors";
  run_with_files(json, one, true);
  run_with_files(json, folder.path() / "each", true);
  for (const auto& [name, file] :
       {std::pair{"a/b", "a_b"}, {"__metadata___", "__metadata___"}, {"input_7", "input_7"}}) {
    const tensors::TensorFile tensor = tensors::TensorFile::open(one, name);
    std::vector<float> values(tensor.elements());
    tensor.read(0, values);
    CHECK(values == values_in(folder.path() / "each" / (std::string(file) + ".npy")));
  }
  CHECK_THROWS_WITH(tensors::TensorFile::open(one, "none"), ContainsSubstring("'exact_sum'"));
}

TEST_CASE("paths of tensors cover the requested files") {
  const TemporaryDirectory folder;
  const auto paths_of = [&](const input::Json& json, bool inputs) {
    const plan::Plan plan = plan::make_plan(config::read_config(json));
    const TensorFiles files(folder.path(), {tensor_set(plan)}, inputs);
    TensorPaths paths = files.paths();
    CHECK(files.all_paths().size() == paths.results.size() + 1 + paths.inputs.size());
    return paths;
  };
  const TensorPaths all = paths_of(good_config(), true);
  CHECK(all.results.size() == 2);
  CHECK(all.results.front() == folder.path() / "bf16.npy");
  CHECK(all.exact_sum == folder.path() / "exact_sum.npy");
  CHECK(all.inputs.size() == 8);
  CHECK(paths_of(good_config(), false).inputs.empty());
}

TEST_CASE("labels become unique file names that need no quotes") {
  const TemporaryDirectory folder;
  input::Json json = good_config();
  json["collectives"] = {{{"algorithm", "ring"}, {"label", "a/b"}},
                         {{"algorithm", "ring"}, {"label", "a b"}},
                         {{"algorithm", "ring"}, {"label", "exact_sum"}},
                         {{"algorithm", "ring"}, {"label", ".hidden"}}};
  json.erase("baseline");
  run_with_files(json, folder.path());
  CHECK(names_in(folder.path()) == std::vector<std::string>{"_hidden.npy", "a_b.npy", "a_b_.npy",
                                                            "exact_sum.npy", "exact_sum_.npy"});
}

TEST_CASE("tensors that are not computed are refused") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& pointer, const std::string& value,
                           const std::string& words) {
    testing::check_refused([&] { run_with_files(changed(pointer, value), folder.path() / "x"); },
                           pointer, words);
  };
  refused("/numerics", "off", "switch it on");
  refused("/tensor/sample", "0.5", "set it to 1");
  CHECK(names_in(folder.path()).empty());
  const std::string file = folder.write("file", "x");
  CHECK_THAT(testing::message_of([&] { run_with_files(good_config(), file); }),
             ContainsSubstring("cannot create the folder"));
}

}  // namespace
}  // namespace equarx::run::tensor_files_test
