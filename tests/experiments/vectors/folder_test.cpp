#include "experiments/vectors/folder.hpp"

#include <filesystem>
#include <fstream>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "models/tensors/tensor_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::vectors::folder_test {
namespace {

namespace fs = std::filesystem;
using input::Json;

Vectors made(const std::vector<std::string>& cases) {
  const Json config = {{"hardware", "h100"},
                       {"topology", {{"switch", 4}}},
                       {"tensor", {{"shape", {4096}}, {"dtype", "bf16"}}},
                       {"collectives", Json::parse(R"([{"algorithm": "one-shot"}])")}};
  return make_vectors(config::read_config(config), select_cases(cases), [](const std::string&) {});
}

Json read(const fs::path& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

}  // namespace

TEST_CASE("files hold results in the type of the tensor, and later vectors replace earlier ones") {
  const testing::TemporaryDirectory folder;
  const fs::path output = folder.path() / "deep" / "vectors";
  check_vectors_folder(output);
  const Vectors vectors = made({"ties", "zeros"});
  write_vectors(output, vectors);
  const Json manifest = read(output / "manifest.json");
  REQUIRE(manifest["complete"] == true);
  const std::string ties = manifest["files"][0];
  const tensors::TensorFile file =
      tensors::TensorFile::open((output / ties).string(), "result.rank2");
  CHECK(file.dtype() == tensors::FileType::bf16);
  std::vector<float> result(256);
  file.read(0, result);
  CHECK(result == vectors.collectives[0].cases[0].record.results[2].front().values);

  check_vectors_folder(output);
  write_vectors(output, made({"zeros"}));
  CHECK_FALSE(fs::exists(output / ties));
  CHECK(fs::exists(output / read(output / "manifest.json")["files"][0].get<std::string>()));
}

TEST_CASE("a folder with other files is refused, and its files stay") {
  const testing::TemporaryDirectory folder;
  check_vectors_folder(folder.path());
  folder.write("mine.txt", "text");
  CHECK_THROWS_WITH(check_vectors_folder(folder.path()), ContainsSubstring("holds other files"));
  folder.write("manifest.json", R"({"name": "another tool's"})");
  CHECK_THROWS_AS(check_vectors_folder(folder.path()), input::InputError);
}

TEST_CASE("only vectors within the folder are removed") {
  const testing::TemporaryDirectory folder;
  folder.write("kept.safetensors", "");
  fs::create_directory(folder.path() / "v");
  std::ofstream(folder.path() / "v" / "manifest.json")
      << R"({"complete": true, "files": ["../kept.safetensors", "notes.txt", 3]})";
  std::ofstream(folder.path() / "v" / "notes.txt") << "text";
  write_vectors(folder.path() / "v", made({"ties"}));
  CHECK(fs::exists(folder.path() / "kept.safetensors"));
  CHECK(fs::exists(folder.path() / "v" / "notes.txt"));
}

}  // namespace equarx::vectors::folder_test
