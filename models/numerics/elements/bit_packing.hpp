// Gapless packing of codes of fewer than 8 bits; the first code is in the lowest bits of the first
// byte.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace equarx::numerics {

namespace detail {
/// Smallest group of codes that fills whole bytes: 2 of 4 bits, 4 of 6 bits.
template <int kBits>
struct PackedGroup {
  static_assert(kBits == 4 || kBits == 6);
  static constexpr std::size_t kCodes = kBits == 4 ? 2 : 4;
  static constexpr std::size_t kBytes = kCodes * kBits / CHAR_BIT;
  static constexpr std::uint32_t kMask = (1U << kBits) - 1;
};
template <int kBits>
void pack_group(const std::byte* codes, std::size_t count, std::byte* packed) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < count; ++i)
    word |= (std::to_integer<std::uint32_t>(codes[i]) & PackedGroup<kBits>::kMask) << (i * kBits);
  const std::size_t bytes = (count * kBits + CHAR_BIT - 1) / CHAR_BIT;
  for (std::size_t b = 0; b < bytes; ++b)
    packed[b] = static_cast<std::byte>(word >> (b * CHAR_BIT));
}

template <int kBits, bool kSigned>
void unpack_group(const std::byte* packed, std::size_t count, std::byte* codes) {
  constexpr std::uint32_t kSign = kSigned ? 1U << (kBits - 1) : 0U;
  const std::size_t bytes = (count * kBits + CHAR_BIT - 1) / CHAR_BIT;
  std::uint32_t word = 0;
  for (std::size_t b = 0; b < bytes; ++b)
    word |= std::to_integer<std::uint32_t>(packed[b]) << (b * CHAR_BIT);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t code = (word >> (i * kBits)) & PackedGroup<kBits>::kMask;
    codes[i] = static_cast<std::byte>((code ^ kSign) - kSign);
  }
}
}  // namespace detail

/// Packs the low kBits of `count` codes; unused bits of the last byte are 0.
template <int kBits>
void pack_codes(const std::byte* codes, std::size_t count, std::byte* packed) {
  using Group = detail::PackedGroup<kBits>;
  // Whole groups first, with a compile-time length.
  for (; count >= Group::kCodes; count -= Group::kCodes) {
    detail::pack_group<kBits>(codes, Group::kCodes, packed);
    codes += Group::kCodes;
    packed += Group::kBytes;
  }
  detail::pack_group<kBits>(codes, count, packed);
}

/// Inverse of pack_codes(); sign-extends signed codes.
template <int kBits, bool kSigned>
void unpack_codes(const std::byte* packed, std::size_t count, std::byte* codes) {
  using Group = detail::PackedGroup<kBits>;
  for (; count >= Group::kCodes; count -= Group::kCodes) {
    detail::unpack_group<kBits, kSigned>(packed, Group::kCodes, codes);
    codes += Group::kCodes;
    packed += Group::kBytes;
  }
  detail::unpack_group<kBits, kSigned>(packed, count, codes);
}

}  // namespace equarx::numerics
