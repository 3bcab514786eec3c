#include "models/numerics/codec/bfloat16_spans.hpp"

#include <bit>
#include <random>
#include <vector>

#include "models/numerics/elements/bfloat16.hpp"
#include "tests/catch.hpp"

namespace equarx::bfloat16_spans_test {

using namespace equarx::numerics;

TEST_CASE("bulk bfloat16 conversion matches scalar conversion at all lengths around a vector") {
  std::mt19937 bits(7);
  for (std::size_t length : {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 1000}) {
    std::vector<float> values(length);
    for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
    std::vector<std::uint16_t> codes(length);
    std::vector<float> decoded(length);
    std::vector<float> rounded = values;
    encode_bf16(values, codes);
    decode_bf16(codes, decoded);
    round_to_bf16(rounded);
    for (std::size_t i = 0; i < length; ++i) {
      REQUIRE(codes[i] == bf16_from_float(values[i]));
      REQUIRE(std::bit_cast<std::uint32_t>(decoded[i]) == static_cast<std::uint32_t>(codes[i])
                                                              << 16);
      REQUIRE(std::bit_cast<std::uint32_t>(rounded[i]) == std::bit_cast<std::uint32_t>(decoded[i]));
    }
  }
}

TEST_CASE("bfloat16 spans of different lengths are refused") {
  std::vector<float> values(3);
  std::vector<std::uint16_t> codes(4);
  REQUIRE_THROWS_WITH(encode_bf16(values, codes), ContainsSubstring("3 values but 4"));
  REQUIRE_THROWS_WITH(decode_bf16(codes, values), ContainsSubstring("3 values but 4"));
}

}  // namespace equarx::bfloat16_spans_test
