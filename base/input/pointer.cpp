#include "base/input/pointer.hpp"

#include <fmt/format.h>

namespace equarx::input {
namespace {

/// A key as a token of a JSON pointer.
std::string escaped(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

}  // namespace

std::string pointer(std::string_view base, std::string_view key) {
  return fmt::format("{}/{}", base, escaped(key));
}

std::string pointer(std::string_view base, std::size_t index) {
  return fmt::format("{}/{}", base, index);
}

}  // namespace equarx::input
