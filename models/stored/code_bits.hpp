// Codes of 1 to 8 bits without gaps, the first in the lowest bits of the first byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace equarx::stored {

/// Bytes of packed codes.
constexpr std::size_t packed_bytes(int bits, std::size_t codes) {
  return (codes * static_cast<std::size_t>(bits) + 7) / 8;
}

/// Packs the low bits of codes; unused bits of the last byte are 0.
void pack_bits(std::span<const std::uint8_t> codes, int bits, std::byte* packed);
/// Inverse of pack_bits(), with zeros above the bits.
void unpack_bits(const std::byte* packed, int bits, std::span<std::uint8_t> codes);

}  // namespace equarx::stored
