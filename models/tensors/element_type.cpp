#include "models/tensors/element_type.hpp"

#include <cstring>
#include <stdexcept>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/elements/minifloat.hpp"

namespace equarx::tensors {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

template <class Bits, float (*kDecode)(Bits)>
void convert(const std::byte* stored, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, stored + i * sizeof bits, sizeof bits);
    values[i] = kDecode(bits);
  }
}

}  // namespace

void convert_elements(FileType type, std::span<const std::byte> stored, std::span<float> values) {
  if (stored.size() != values.size() * element_bytes(type))
    throw std::logic_error("stored elements and values differ in number");
  if (values.empty()) return;
  switch (type) {
    case FileType::fp32: std::memcpy(values.data(), stored.data(), stored.size()); return;
    case FileType::fp16:
      return convert<std::uint16_t, numerics::float_from_fp16>(stored.data(), values);
    case FileType::bf16:
      return convert<std::uint16_t, numerics::float_from_bf16>(stored.data(), values);
    case FileType::fp8_e4m3:
      return convert<std::uint8_t, numerics::Fp8E4m3::decode>(stored.data(), values);
    case FileType::fp8_e5m2:
      return convert<std::uint8_t, numerics::Fp8E5m2::decode>(stored.data(), values);
    case FileType::fp64:
    case FileType::int8:
    case FileType::uint8:
    case FileType::int32:
    case FileType::int64: throw std::logic_error("elements of this type are write-only");
  }
}

}  // namespace equarx::tensors
