#include "models/tensors/file_error.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace equarx::tensors {
namespace {

constexpr std::size_t kLongestQuotation = 60;  ///< bytes

}  // namespace

std::string in_quotes(std::string_view text) {
  if (text.size() <= kLongestQuotation) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, kLongestQuotation));
}

}  // namespace equarx::tensors
