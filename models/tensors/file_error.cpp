#include "models/tensors/file_error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace equarx::tensors {
namespace {

constexpr std::size_t kLongestQuotation = 60;  ///< bytes
constexpr unsigned char kDelete = 0x7f;

/// Bytes of the UTF-8 character whose first byte is `lead`; 0 if none begins so.
std::size_t utf8_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/// Bytes of the character at the start of `text` if it may be shown, else 0.
std::size_t harmless_length(std::string_view text) {
  // By length. Below are the controls C0 and C1, and forms that are longer than they need be.
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

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = harmless_length(text);
    if (length == 0)
      shown += '?';
    else
      shown += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

}  // namespace

FileError::FileError(const std::filesystem::path& file, std::string_view problem)
    : std::runtime_error(printable(fmt::format("{}: {}", file.string(), problem))) {}

std::string in_quotes(std::string_view text) {
  if (text.size() <= kLongestQuotation) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, kLongestQuotation));
}

}  // namespace equarx::tensors
