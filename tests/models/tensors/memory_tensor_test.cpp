#include "models/tensors/memory_tensor.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::memory_tensor_test {
namespace {

using namespace equarx::tensors;

TEST_CASE("a tensor in memory is read in place") {
  std::array<float, 5> numbers = {1.0F, -2.0F, 3.5F, 0.0F, 7.0F};
  const MemoryTensor tensor(FileType::fp32, std::as_bytes(std::span(numbers)));
  REQUIRE(tensor.elements() == 5);
  REQUIRE(tensor.dtype() == FileType::fp32);
  numbers[2] = 9.0F;
  std::vector<float> read(2);
  tensor.read(1, read);
  REQUIRE(read == std::vector<float>{-2.0F, 9.0F});
}

TEST_CASE("elements in memory are decoded by type, at any alignment") {
  // 1 and -2 as bf16, after a padding byte.
  const std::array<std::uint8_t, 5> bytes = {0xff, 0x80, 0x3f, 0x00, 0xc0};
  const MemoryTensor tensor(FileType::bf16, std::as_bytes(std::span(bytes)).subspan(1));
  std::vector<float> read(2);
  tensor.read(0, read);
  REQUIRE(read == std::vector<float>{1.0F, -2.0F});
}

TEST_CASE("reads beyond the end and partial elements are refused") {
  const std::array<std::byte, 6> bytes{};
  REQUIRE_THROWS_AS(MemoryTensor(FileType::fp32, bytes), std::invalid_argument);
  const MemoryTensor tensor(FileType::fp16, bytes);
  std::vector<float> read(2);
  REQUIRE_THROWS_AS(tensor.read(2, read), std::out_of_range);
  REQUIRE_THROWS_AS(tensor.read(4, std::span(read).first(0)), std::out_of_range);
  REQUIRE_NOTHROW(tensor.read(3, std::span(read).first(0)));
}

}  // namespace
}  // namespace equarx::memory_tensor_test
