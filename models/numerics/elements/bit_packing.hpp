// Codes of fewer than 8 bits, packed without gaps: the first element in the lowest bits of the first
// byte.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace equarx::numerics {

namespace detail {
// As many codes as fill whole bytes: 2 of 4 bits, 4 of 6 bits.
template <int kBits>
struct PackedGroup {
  static_assert(kBits == 4 || kBits == 6);
  static constexpr std::size_t kCodes = kBits == 4 ? 2 : 4;
  static constexpr std::size_t kBytes = kCodes * kBits / CHAR_BIT;
  static constexpr std::uint32_t kMask = (1U << kBits) - 1;
};
}  // namespace detail

/// Packs the low kBits of `count` codes into the fewest bytes; what is left of the last one is 0.
template <int kBits>
void pack_codes(const std::byte* codes, std::size_t count, std::byte* packed) {
  using Group = detail::PackedGroup<kBits>;
  for (std::size_t done = 0; done < count; done += Group::kCodes) {
    const std::size_t here = count - done < Group::kCodes ? count - done : Group::kCodes;
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < here; ++i)
      word |= (std::to_integer<std::uint32_t>(codes[done + i]) & Group::kMask) << (i * kBits);
    const std::size_t bytes = (here * kBits + CHAR_BIT - 1) / CHAR_BIT;
    std::byte* to = packed + done / Group::kCodes * Group::kBytes;
    for (std::size_t b = 0; b < bytes; ++b) to[b] = static_cast<std::byte>(word >> (b * CHAR_BIT));
  }
}

/// The inverse. Signed codes get their sign back.
template <int kBits, bool kSigned>
void unpack_codes(const std::byte* packed, std::size_t count, std::byte* codes) {
  using Group = detail::PackedGroup<kBits>;
  constexpr std::uint32_t kSign = kSigned ? 1U << (kBits - 1) : 0U;
  for (std::size_t done = 0; done < count; done += Group::kCodes) {
    const std::size_t here = count - done < Group::kCodes ? count - done : Group::kCodes;
    const std::size_t bytes = (here * kBits + CHAR_BIT - 1) / CHAR_BIT;
    const std::byte* from = packed + done / Group::kCodes * Group::kBytes;
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < bytes; ++b)
      word |= std::to_integer<std::uint32_t>(from[b]) << (b * CHAR_BIT);
    for (std::size_t i = 0; i < here; ++i) {
      const std::uint32_t code = (word >> (i * kBits)) & Group::kMask;
      codes[done + i] = static_cast<std::byte>((code ^ kSign) - kSign);
    }
  }
}

}  // namespace equarx::numerics
