#include "models/tensors/safetensors_reader.hpp"

#include <fstream>

#include "tests/catch.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::tensors::safetensors_reader_test {
namespace {

using testing::file_error_of;
using testing::safetensors_entry;

TEST_CASE("safetensors reader: tensors of any type, by name") {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "a.safetensors";
  std::ofstream(path, std::ios::binary)
      << testing::safetensors("{" + safetensors_entry("codes", "I32", "[1,2]", 0, 8) + "," +
                                  safetensors_entry("short", "I32", "[3]", 8, 16) + "," +
                                  safetensors_entry("one", "F32", "[]", 16, 20) + "}",
                              "abcdefghijklmnopqrst");
  const SafetensorsReader reader(path);
  CHECK(reader.tensors().size() == 3);
  CHECK(reader.find("other") == nullptr);
  const SafetensorsEntry& codes = *reader.find("codes");
  CHECK(codes.type == "I32");
  CHECK(reader.elements(codes, 4).front() == std::byte{'a'});
  CHECK(reader.elements(*reader.find("one"), 4).size() == 4);
  CHECK_THAT(file_error_of([&] { reader.elements(*reader.find("short"), 4); }),
             ContainsSubstring("its shape (3,) needs 12"));
}

}  // namespace
}  // namespace equarx::tensors::safetensors_reader_test
