#include "models/checkpoints/gptq.hpp"

#include <cstring>

#include "tests/catch.hpp"

namespace equarx::checkpoints::gptq_test {
namespace {

/// 32 outputs x 64 inputs in groups of 32; the code of output o and input i is (o + i) mod 16.
Weight weight() {
  Weight weight;
  weight.elements = integer_elements(4);
  weight.inputs = 64;
  Codes codes(32, 64);
  weight.scales = {32, 2};
  weight.zero_points = {32, 2};
  for (std::size_t o = 0; o < 32; ++o) {
    for (std::size_t i = 0; i < 64; ++i) codes.at(o, i) = static_cast<std::uint8_t>((o + i) % 16);
    for (std::size_t g = 0; g < 2; ++g) {
      weight.scales.at(o, g) = static_cast<float>(o + 1);
      weight.zero_points.at(o, g) = static_cast<std::uint8_t>(1 + o % 15);
    }
  }
  weight.words = pack_rows(codes, 4);
  return weight;
}

std::uint32_t word(const Part& part, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, part.bytes.data() + 4 * index, sizeof value);
  return value;
}

TEST_CASE("gptq: codes along inputs, zero points less one along outputs") {
  const std::vector<Part> parts = gptq_parts(weight(), GptqZeros::less_one);
  CHECK(parts[0].tensor.shape == std::vector<std::uint64_t>{8, 32});
  CHECK(word(parts[0], 0) == 0x76543210U);   // output 0, inputs 0 to 7
  CHECK(word(parts[0], 1) == 0x87654321U);   // output 1
  CHECK(word(parts[0], 32) == 0xfedcba98U);  // output 0, inputs 8 to 15
  CHECK(parts[1].tensor.shape == std::vector<std::uint64_t>{2, 4});
  CHECK(word(parts[1], 0) == 0x76543210U);  // group 0, outputs 0 to 7
  CHECK(parts[2].tensor.shape == std::vector<std::uint64_t>{2, 32});
  CHECK(parts[3].tensor.shape == std::vector<std::uint64_t>{64});
  CHECK(word(parts[3], 31) == 0);
  CHECK(word(parts[3], 32) == 1);
  CHECK(word(gptq_parts(weight(), GptqZeros::plain)[1], 0) == 0x87654321U);
}

TEST_CASE("gptq: a zero point of 0 is refused unless stored as it is") {
  Weight shifted = weight();
  shifted.zero_points.at(3, 1) = 0;
  CHECK_THROWS_WITH(gptq_parts(shifted, GptqZeros::less_one),
                    ContainsSubstring("group 1 of row 3") && ContainsSubstring("gptq-v2"));
  CHECK(word(gptq_parts(shifted, GptqZeros::plain)[1], 4) == 0x87650321U);
}

TEST_CASE("gptq: symmetric integers have the middle code as zero point") {
  Weight symmetric = weight();
  symmetric.zero_points = {};
  CHECK(word(gptq_parts(symmetric, GptqZeros::less_one)[1], 0) == 0x77777777U);
}

TEST_CASE("awq: codes along outputs, in its order") {
  const std::vector<Part> parts = awq_parts(weight());
  CHECK(parts[0].tensor.shape == std::vector<std::uint64_t>{64, 4});
  CHECK(word(parts[0], 0) == 0x75316420U);  // input 0, outputs 0 to 7
  CHECK(word(parts[0], 4) == 0x86427531U);  // input 1
  CHECK(parts[1].tensor.shape == std::vector<std::uint64_t>{2, 4});
  CHECK(word(parts[1], 0) == 0x86427531U);
}

}  // namespace
}  // namespace equarx::checkpoints::gptq_test
