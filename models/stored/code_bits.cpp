#include "models/stored/code_bits.hpp"

#include <algorithm>

#include "models/numerics/kernels/group_codes.hpp"

namespace equarx::stored {

void pack_bits(std::span<const std::uint8_t> codes, int bits, std::byte* packed) {
  if (bits == 4) return numerics::kernels::pack_halves(codes, packed);
  const std::uint32_t mask = (1U << static_cast<unsigned>(bits)) - 1;
  std::uint32_t buffer = 0;
  int filled = 0;
  for (const std::uint8_t code : codes) {
    buffer |= (code & mask) << filled;
    filled += bits;
    if (filled < 8) continue;
    *packed++ = static_cast<std::byte>(buffer);
    buffer >>= 8;
    filled -= 8;
  }
  if (filled > 0) *packed = static_cast<std::byte>(buffer);
}

void unpack_bits(const std::byte* packed, int bits, std::span<std::uint8_t> codes) {
  if (bits == 4) return numerics::kernels::unpack_halves(packed, codes);
  const std::uint32_t mask = (1U << static_cast<unsigned>(bits)) - 1;
  std::uint32_t buffer = 0;
  int filled = 0;
  for (std::uint8_t& code : codes) {
    if (filled < bits) {
      buffer |= std::to_integer<std::uint32_t>(*packed++) << filled;
      filled += 8;
    }
    code = static_cast<std::uint8_t>(buffer & mask);
    buffer >>= bits;
    filled -= bits;
  }
}

}  // namespace equarx::stored
