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

}  // namespace
}  // namespace equarx::testing::output_tensors_test
