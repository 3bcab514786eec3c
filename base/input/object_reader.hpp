// Reads one JSON object and tracks which keys were read.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/input/enum_names.hpp"
#include "base/units/quantity.hpp"

namespace equarx::input {

/// Preserves the order of keys, so that output resembles the input.
using Json = nlohmann::ordered_json;

/// All getters throw InputError with the JSON pointer of the offending value. finish() rejects keys
/// that were never read, so a misspelt key is never ignored.
class ObjectReader {
 public:
  /// `pointer` is the JSON pointer of `value`, which must be an object.
  ObjectReader(const Json& value, std::string pointer);

  bool has(std::string_view key);
  /// `expected` describes the value, for the message if it is missing.
  const Json& required(std::string_view key, std::string_view expected);
  /// Rejects `key` if it is present. @throws InputError with `reason`
  void reject(std::string_view key, std::string_view reason);

  /// JSON pointer of a key, present or not.
  std::string pointer_to(std::string_view key) const;
  /// JSON pointer of an element of the array under a key.
  std::string pointer_to(std::string_view key, std::size_t index) const;

  std::string text(std::string_view key);
  /// `expected` is more specific than "a string".
  std::string text(std::string_view key, std::string_view expected);
  /// A quantity within the limits of check_magnitude().
  double quantity(std::string_view key, units::Dimension dimension);
  /// An integer from `least` to `most`.
  std::uint64_t integer(std::string_view key, std::uint64_t least, std::uint64_t most);
  /// A plain number. `expected` describes it for messages.
  double number(std::string_view key, std::string_view expected = "a number");
  /// A plain number above 0 and up to 1e50.
  double positive_number(std::string_view key);
  /// A plain number from kLeastShare to 1.
  double share(std::string_view key);
  /// true or false; `fallback` if the key is absent.
  bool flag_or(std::string_view key, bool fallback);
  ObjectReader object(std::string_view key);
  const Json& array(std::string_view key);

  /// Index of the text in `names`. The error for any other text suggests the closest name.
  std::size_t choice(std::string_view key, std::span<const std::string_view> names);

  /// The enumeration value with this name.
  template <typename Enum, std::size_t N>
  Enum choice(std::string_view key, const EnumNames<Enum, N>& names) {
    return static_cast<Enum>(choice(key, std::span<const std::string_view>(names.all())));
  }
  /// Like choice(); `fallback` if the key is absent.
  template <typename Enum, std::size_t N>
  Enum choice_or(std::string_view key, const EnumNames<Enum, N>& names, Enum fallback) {
    return has(key) ? choice(key, names) : fallback;
  }

  /// Rejects keys that were never read. @throws UnknownKeyError with the closest known key.
  void finish() const;

 private:
  [[noreturn]] void unknown_key(std::string_view key,
                                std::span<const std::string_view> known) const;

  const Json& value_;
  std::string pointer_;
  std::vector<std::string_view> known_;
};

/// Reads an integer from `least` to `most`, at `pointer`.
std::uint64_t read_integer(const Json& value, const std::string& pointer, std::uint64_t least,
                           std::uint64_t most);

/// Lower limit of shares and fault factors: below it no machine is meaningful, and derived times
/// would overflow.
inline constexpr double kLeastShare = 1e-9;

/// Describes the values that read_share() accepts, for messages.
inline constexpr std::string_view kExpectedShare = "a number from 1e-9 to 1";

/// Reads a plain number from kLeastShare to 1, at `pointer`.
double read_share(const Json& value, const std::string& pointer);

/// Rejects rates above 0 but below 1e-9 of the base unit, times above 1e9 s, and any other quantity
/// above 1e50: times computed from them would not be finite. Negative values are left to the
/// caller.
void check_magnitude(double value, const std::string& pointer, units::Dimension dimension);

/// Reads a quantity with its unit in a string, at `pointer`, of any magnitude. Bytes may also be an
/// integer, as in results.
double read_quantity(const Json& value, const std::string& pointer, units::Dimension dimension);

/// Describes the values that read_quantity() accepts, for messages: "a time with its unit, like "1
/// us"".
std::string expected_quantity(units::Dimension dimension);

/// The one key of `alternatives` that is present; empty if none is. @throws InputError if two are.
std::string_view exactly_one(ObjectReader& reader, std::span<const std::string_view> alternatives,
                             const std::string& pointer);

/// Choice among enumeration values with a name() function; `fallback` if the key is absent.
template <typename Enum, std::size_t N>
Enum choose(ObjectReader& reader, std::string_view key, const std::array<Enum, N>& values,
            Enum fallback) {
  if (!reader.has(key)) return fallback;
  std::array<std::string_view, N> names;
  std::ranges::transform(values, names.begin(), [](Enum value) { return name(value); });
  return values[reader.choice(key, names)];
}

/// Kind of a JSON value, for messages: "a number".
std::string_view kind_of(const Json& value);

}  // namespace equarx::input
