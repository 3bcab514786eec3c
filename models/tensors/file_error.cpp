#include "models/tensors/file_error.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "base/os/printable.hpp"

namespace equarx::tensors {
namespace {

constexpr std::size_t kLongestQuotation = 60;  ///< bytes

}  // namespace

FileError::FileError(const std::filesystem::path& file, std::string_view problem)
    : std::runtime_error(os::printable(fmt::format("{}: {}", file.string(), problem))) {}

std::string in_quotes(std::string_view text) {
  if (text.size() <= kLongestQuotation) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, kLongestQuotation));
}

}  // namespace equarx::tensors
