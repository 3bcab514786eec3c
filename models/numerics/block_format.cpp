#include "models/numerics/block_format.hpp"

#include <algorithm>
#include <climits>
#include <stdexcept>

namespace equarx::numerics {

std::size_t element_bits(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return 32;
    case ElementFormat::bf16: return 16;
    case ElementFormat::int8:
    case ElementFormat::fp8_e4m3:
    case ElementFormat::fp8_e5m2: return 8;
  }
  throw std::logic_error("element_bits: not an element format");
}

std::size_t scale_bytes(ScaleFormat format) {
  switch (format) {
    case ScaleFormat::fp32: return 4;
    case ScaleFormat::bf16: return 2;
  }
  throw std::logic_error("scale_bytes: not a scale format");
}

std::size_t payload_bytes(const BlockFormat& format, std::size_t elements) {
  return (elements * element_bits(format.element) + CHAR_BIT - 1) / CHAR_BIT;
}

std::size_t scale_count(const BlockFormat& format, std::size_t elements) {
  if (!format.scaled) return 0;
  if (format.layout == ScaleLayout::strided) return std::min(elements, kRegisterElements);
  if (format.block == 0) {
    throw std::invalid_argument(
        "block is 0: contiguous scales need at least 1 element per scale, e.g. 128");
  }
  return elements / format.block + (elements % format.block != 0 ? 1 : 0);
}

bool same_groups(const BlockFormat& one, const BlockFormat& other) {
  if (!one.scaled || !other.scaled || one.layout != other.layout) return false;
  return one.layout == ScaleLayout::strided || one.block == other.block;
}

std::string_view name(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return "fp32";
    case ElementFormat::bf16: return "bf16";
    case ElementFormat::int8: return "int8";
    case ElementFormat::fp8_e4m3: return "fp8-e4m3";
    case ElementFormat::fp8_e5m2: return "fp8-e5m2";
  }
  throw std::logic_error("name: not an element format");
}

std::string_view name(ScaleFormat format) {
  switch (format) {
    case ScaleFormat::fp32: return "fp32";
    case ScaleFormat::bf16: return "bf16";
  }
  throw std::logic_error("name: not a scale format");
}

std::string_view name(ScaleLayout layout) {
  switch (layout) {
    case ScaleLayout::strided: return "strided";
    case ScaleLayout::contiguous: return "contiguous";
  }
  throw std::logic_error("name: not a scale layout");
}

}  // namespace equarx::numerics
