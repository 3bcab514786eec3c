// Names of the values of an enumeration in configurations.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace equarx::input {

/// Names of all values of an enumeration that counts from 0. A table in another order does not
/// compile.
template <typename Enum, std::size_t N>
class EnumNames {
 public:
  consteval explicit EnumNames(const std::pair<Enum, std::string_view> (&entries)[N]) {
    for (std::size_t i = 0; i < N; ++i) {
      if (static_cast<std::size_t>(entries[i].first) != i) throw "in the order of the enumeration";
      names_[i] = entries[i].second;
    }
  }

  constexpr std::string_view operator[](Enum value) const {
    return names_[static_cast<std::size_t>(value)];
  }

  /// Names in the order of the values.
  constexpr const std::array<std::string_view, N>& all() const { return names_; }

 private:
  std::array<std::string_view, N> names_{};
};

}  // namespace equarx::input
