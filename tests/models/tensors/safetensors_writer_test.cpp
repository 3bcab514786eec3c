#include "models/tensors/safetensors_writer.hpp"

#include <stdexcept>

#include "tests/support/tensor_files.hpp"

namespace equarx::safetensors_writer_test {
namespace {

using namespace equarx::tensors;
using namespace equarx::testing;
using Tensors = std::vector<NewTensor>;

TEST_CASE("a .safetensors file of two tensors, byte by byte: wider elements first, aligned") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.safetensors";
  SafetensorsFile file(
      path, Tensors{{"codes", FileType::fp8_e4m3, {1, 3}}, {"sum \"x\"", FileType::fp64, {1}}});
  REQUIRE(file.data(0).size() == 3);
  REQUIRE(file.data(1).size() == 8);
  file.data(0)[2] = std::byte{7};
  file.data(1)[0] = std::byte{9};
  file.keep();
  std::string header = "{" + safetensors_entry("codes", "F8_E4M3", "[1,3]", 8, 11) + "," +
                       safetensors_entry("sum \\\"x\\\"", "F64", "[1]", 0, 8) + "}";
  header.append(7 - (header.size() + 7) % 8, ' ');
  CHECK(content_of(path) == safetensors(header, std::string("\x09\0\0\0\0\0\0\0\0\0\x07", 11)));
  CHECK(header.size() % 8 == 0);
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("written .safetensors files read back, for every type") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a.safetensors";
  const std::vector<FileType> types = {FileType::fp8_e5m2, FileType::bf16, FileType::fp32,
                                       FileType::fp8_e4m3, FileType::fp16};
  Tensors tensors;
  for (const FileType type : types)
    tensors.push_back({std::to_string(static_cast<int>(type)), type, {3, 5}});
  SafetensorsFile file(path, tensors);
  for (std::size_t i = 0; i < types.size(); ++i) {
    REQUIRE(file.data(i).size() == 15 * element_bytes(types[i]));
    CHECK(reinterpret_cast<std::uintptr_t>(file.data(i).data()) % element_bytes(types[i]) == 0);
    file.data(i)[0] = std::byte{static_cast<unsigned char>(i + 1)};
  }
  file.keep();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TensorFile read = TensorFile::open(path, tensors[i].name);
    CHECK(read.dtype() == types[i]);
    CHECK(shape_of(read) == tensors[i].shape);
    const std::vector<float> values = read_all(read);
    const float expected = [&] {
      std::string first(element_bytes(types[i]), '\0');
      first[0] = static_cast<char>(i + 1);
      std::vector<float> value(1);
      convert_elements(types[i], bytes_of(first), value);
      return value[0];
    }();
    CHECK(values[0] == expected);
    CHECK(values[1] == 0.0F);
  }
}

TEST_CASE("a .safetensors file that is not kept does not appear") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.safetensors";
  {
    SafetensorsFile file(path, Tensors{{"a", FileType::fp32, {100}}});
    file.data(0)[0] = std::byte{1};
  }
  CHECK(file_count(directory.path()) == 0);
}

TEST_CASE("invalid .safetensors names, tensors and shapes are refused") {
  const TemporaryDirectory directory;
  const auto write = [&](const std::string& name, const Tensors& tensors) {
    SafetensorsFile(directory.path() / name, tensors);
  };
  const NewTensor good = {"a", FileType::fp32, {2}};
  CHECK_THAT(file_error_of([&] { write("a.npy", {good}); }),
             ContainsSubstring("must end in .safetensors"));
  CHECK_THAT(file_error_of([&] {
               write("a.safetensors", {{"a", FileType::fp32, {2, 0}}});
             }),
             ContainsSubstring("no elements"));
  CHECK_THAT(file_error_of([&] { write("none/a.safetensors", {good}); }),
             ContainsSubstring("No such file or directory"));
  CHECK_THROWS_AS(write("a.safetensors", {good, good}), std::logic_error);
  CHECK_THROWS_AS(write("a.safetensors", {{"__metadata__", FileType::fp32, {2}}}),
                  std::logic_error);
  CHECK(file_count(directory.path()) == 0);
}

}  // namespace
}  // namespace equarx::safetensors_writer_test
