#include "models/numerics/codec/bfloat16_spans.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

#include "models/numerics/kernels/kernels.hpp"

namespace equarx::numerics {

namespace {

void check_same_length(std::size_t values, std::size_t codes) {
  if (values != codes) {
    throw std::invalid_argument(std::to_string(values) + " values but " + std::to_string(codes) +
                                " bfloat16 codes: the numbers must match");
  }
}

}  // namespace

void round_to_bf16(std::span<float> values) { kernels::round_to_bf16(values); }

void encode_bf16(std::span<const float> values, std::span<std::uint16_t> codes) {
  check_same_length(values.size(), codes.size());
  kernels::encode_bf16(values, codes.data());
}

void decode_bf16(std::span<const std::uint16_t> codes, std::span<float> values) {
  check_same_length(values.size(), codes.size());
  kernels::decode_bf16(codes.data(), values);
}

}  // namespace equarx::numerics
