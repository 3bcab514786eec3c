#include "base/os/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace equarx::os {
namespace {

constexpr unsigned char kDelete = 0x7f;

/// Length in bytes of the UTF-8 sequence that starts with `lead`; 0 if `lead` is not a valid first
/// byte.
std::size_t utf8_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/// Length in bytes of the character at the start of `text` if it is printable, else 0.
std::size_t printable_length(std::string_view text) {
  // Smallest valid code point by sequence length; excludes C0 and C1 controls and overlong
  // encodings.
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0x20, 0xa0, 0x800, 0x10000};
  constexpr int kContinuationBits = 6;
  constexpr unsigned kContinuationMask = (1U << kContinuationBits) - 1;
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = utf8_length(lead);
  if (length == 0 || length > text.size() || lead == kDelete) return 0;
  std::uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & ~kContinuationMask) != 0x80) return 0;
    code = (code << kContinuationBits) | (byte & kContinuationMask);
  }
  return code < kSmallest[length] ? 0 : length;
}

/// Length of the printable ASCII prefix of `text`: the fast path.
std::size_t plain_length(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < static_cast<char>(kDelete); };
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    if (const std::size_t plain = plain_length(text); plain > 0) {
      shown += text.substr(0, plain);
      text.remove_prefix(plain);
      continue;
    }
    const bool is_kept = kept.find(text.front()) != std::string_view::npos;
    const std::size_t length = is_kept ? 1 : printable_length(text);
    if (length == 0)
      shown += '?';
    else
      shown += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) { return printable(text, ""); }

std::string printable_lines(std::string_view text) { return printable(text, "\n\t"); }

}  // namespace equarx::os
