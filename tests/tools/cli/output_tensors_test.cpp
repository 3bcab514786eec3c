#include <filesystem>

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::output_tensors_test {
namespace {

std::vector<std::string> with_tensors(const std::filesystem::path& folder,
                                      std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"--output-tensors", folder.string()});
  return on_small_example("run", more);
}

TEST_CASE("run --output-tensors writes tensors without changing the results") {
  const TemporaryDirectory folder;
  const auto tensors = folder.path() / "new" / "tensors";
  CHECK(output_of(equarx_sim(with_tensors(tensors))) ==
        output_of(equarx_sim(on_small_example("run"))));
  for (const std::string name : {"bf16.npy", "full-loop.npy", "exact_sum.npy"})
    CHECK(std::filesystem::exists(tensors / name));
  CHECK(file_count(tensors) == 3);
  const std::string before = content_of(tensors / "full-loop.npy");
  output_of(equarx_sim(with_tensors(tensors, {"--output-inputs"})));
  CHECK(file_count(tensors) == 3 + 8);
  CHECK(content_of(tensors / "full-loop.npy") == before);
}

TEST_CASE("run --output-tensors writes one .safetensors file") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "all.safetensors";
  output_of(equarx_sim(with_tensors(file)));
  CHECK(file_count(folder.path()) == 1);
  for (const std::string name : {"bf16", "full-loop"})
    CHECK_THAT(
        output_of(equarx_sim({"quantize", file.string(), "--tensor", name, "--format", "int8"})),
        ContainsSubstring("65536 (65536)"));
}

TEST_CASE("run --output-tensors rejects unwritable outputs and disabled numerics") {
  const TemporaryDirectory folder;
  const std::string file = folder.write("file", "x");
  check_refusal(equarx_sim(with_tensors(file)), "cannot create the folder");
  check_refusal(equarx_sim(with_tensors(folder.path(), {"--set", "/numerics=off"})),
                "/numerics: is off, so there are no tensors to write");
  check_refusal(equarx_sim(on_small_example("run", {"--output-inputs"})), "--output-tensors");
  CHECK(file_count(folder.path()) == 1);
}

TEST_CASE("run --output-tensors does not overwrite its inputs") {
  const TemporaryDirectory folder;
  output_of(equarx_sim(with_tensors(folder.path(), {"--output-inputs"})));
  std::string files;
  for (int rank = 0; rank < 8; ++rank)
    files +=
        fmt::format(R"({}"{}/input_{}.npy")", rank == 0 ? "" : ", ", folder.path().string(), rank);
  const std::vector<std::string> again = {"run",
                                          kExample,
                                          "--set",
                                          "/tensor={\"values\": {\"files\": [" + files + "]}}",
                                          "--set",
                                          "/collectives/1/minishards=1",
                                          "--output-tensors",
                                          folder.path().string()};
  const std::string result = content_of(folder.path() / "full-loop.npy");
  output_of(equarx_sim(again));  // the values are the same, so the results are
  CHECK(content_of(folder.path() / "full-loop.npy") == result);
  std::vector<std::string> with_inputs = again;
  with_inputs.emplace_back("--output-inputs");
  check_refusal(equarx_sim(with_inputs), "it is an input");
}

/// A step of an AllReduce and an AllGather, with values.
constexpr const char* kStep = R"({
  "hardware": "tpu-v5e", "topology": {"slice": "2x2"}, "mesh": {"data": 4},
  "step": {"tasks": [
    {"name": "sum", "group": "sum/all",
     "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "64 KiB"}},
    {"name": "gather", "collective": {"kind": "all-gather", "axes": ["data"], "bytes": "64 KiB"}}]},
  "variants": [{"label": "plain"}, {"label": "int8", "quantize": [{"format": "int8"}]}],
  "values": [{"sample": 1}]})";

TEST_CASE("run --output-tensors writes the tensors of a step by group") {
  const TemporaryDirectory folder;
  const std::string step = folder.write("step.json", kStep);
  const std::filesystem::path tensors = folder.path() / "tensors";
  CHECK(output_of(equarx_sim({"run", step, "--output-tensors", tensors.string()})) ==
        output_of(equarx_sim({"run", step})));
  for (const std::string name : {"sum_all/plain.npy", "sum_all/int8.npy", "sum_all/exact_sum.npy",
                                 "gather/plain.npy", "gather/int8.npy"})
    CHECK(std::filesystem::exists(tensors / name));
  const std::string one = (folder.path() / "all.safetensors").string();
  output_of(equarx_sim({"run", step, "--output-tensors", one, "--output-inputs"}));
  for (const std::string name : {"sum/all/int8", "gather/input_3"})
    CHECK_THAT(output_of(equarx_sim({"quantize", one, "--tensor", name, "--format", "int8"})),
               ContainsSubstring("32768 (32768)"));
}

TEST_CASE("run --output-tensors rejects steps without values and unwritable outputs") {
  const TemporaryDirectory folder;
  const std::string step = folder.write("step.json", kStep);
  const std::string tensors = (folder.path() / "tensors").string();
  check_refusal(equarx_sim({"run", step, "--unset", "/values", "--output-tensors", tensors}),
                "step.json: /values: is missing");
  check_refusal(equarx_sim({"run", step, "--unset", "/values/0/sample", "--set",
                            "/step/tasks/0/collective/bytes=64 MiB", "--output-tensors", tensors}),
                "step.json: /values: the tensors of 'sum/all' are only partly computed");
  check_refusal(equarx_sim({"run", step, "--output-tensors", step}), "cannot create the folder");
  CHECK(file_count(folder.path()) == 1);
}

}  // namespace
}  // namespace equarx::testing::output_tensors_test
