#include "experiments/run/tensor_store.hpp"

#include "models/tensors/tensor_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::run::tensor_store_test {
namespace {

using tensors::FileType;
using testing::file_count;
using testing::TemporaryDirectory;

const std::vector<StoredTensor> kTensors = {{"", {"a/b", FileType::fp32, {3}}},
                                            {"", {"a b", FileType::bf16, {2, 2}}}};

TEST_CASE("keep() creates a folder of tensors, or one file, depending on the path") {
  const TemporaryDirectory directory;
  for (const std::string name : {"new/folder", "one.safetensors"}) {
    CAPTURE(name);
    const auto store = make_tensor_store(directory.path() / name, kTensors);
    const bool folder = name == "new/folder";
    CHECK(store->path(0) == directory.path() / (folder ? "new/folder/a_b.npy" : name));
    CHECK(store->path(1) == directory.path() / (folder ? "new/folder/a_b_.npy" : name));
    CHECK_FALSE(std::filesystem::exists(store->path(0)));
    REQUIRE(store->data(1).size() == 8);
    store->data(1)[1] = std::byte{0x40};  // 2 in bf16
    store->keep();
    std::optional<std::string_view> tensor;
    if (!folder) tensor = kTensors[1].tensor.name;
    const auto file = tensors::TensorFile::open(store->path(1), tensor);
    CHECK(file.dtype() == FileType::bf16);
    std::vector<float> values(4);
    file.read(0, values);
    CHECK(values == std::vector<float>{2.0F, 0.0F, 0.0F, 0.0F});
  }
}

TEST_CASE("groups are subfolders with distinct names, or prefixes in one file") {
  const TemporaryDirectory directory;
  const tensors::NewTensor tensor{"x", FileType::fp32, {1}};
  const std::vector<StoredTensor> grouped = {
      {"a/b", tensor}, {"a b", tensor}, {"..", tensor}, {"", tensor}};
  const auto folder = make_tensor_store(directory.path() / "all", grouped);
  folder->keep();
  for (const std::string name : {"a_b/x.npy", "a_b_/x.npy", "_./x.npy", "x.npy"})
    CHECK(std::filesystem::exists(directory.path() / "all" / name));
  const std::filesystem::path one = directory.path() / "one.safetensors";
  make_tensor_store(one, grouped)->keep();
  for (const std::string_view name : {"a/b/x", "a b/x", "../x", "x"})
    CHECK(tensors::TensorFile::open(one, name).elements() == 1);
}

TEST_CASE("paths that cannot be written are input errors") {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.write("file", "x");
  const auto error_at = [](const std::filesystem::path& path) {
    return testing::message_of([&] { make_tensor_store(path, kTensors); });
  };
  CHECK_THAT(error_at(file), ContainsSubstring("cannot create the folder"));
  CHECK_THAT(error_at(directory.path() / "none" / "a.safetensors"),
             ContainsSubstring("No such file or directory"));
  CHECK(file_count(directory.path()) == 1);
}

}  // namespace
}  // namespace equarx::run::tensor_store_test
