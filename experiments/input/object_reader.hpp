// Reads one JSON object and remembers what was asked for.
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

#include "experiments/input/enum_names.hpp"
#include "models/units/quantity.hpp"

namespace equarx::input {

/// Keeps the order of keys, so that what is printed looks like what was read.
using Json = nlohmann::ordered_json;

/// Every getter throws InputError with the JSON pointer of what is wrong. finish() rejects the keys that
/// nobody asked for, so a misspelt one is never ignored.
class ObjectReader {
 public:
  /// `place` is the JSON pointer of `value`, which must be an object.
  ObjectReader(const Json& value, std::string place);

  bool has(std::string_view key);
  /// `expected` says what it should be, for the message if it is missing.
  const Json& required(std::string_view key, std::string_view expected);
  std::string place_of(std::string_view key) const;

  std::string text(std::string_view key);
  /// `expected` says what is wanted more closely than "a string".
  std::string text(std::string_view key, std::string_view expected);
  /// Of a magnitude that times can be computed from: check_magnitude().
  double quantity(std::string_view key, units::Dimension dimension);
  /// An integer from `least` to `most`.
  std::uint64_t integer(std::string_view key, std::uint64_t least, std::uint64_t most);
  /// A plain number. `expected` says what is wanted more closely.
  double number(std::string_view key, std::string_view expected = "a number");
  /// A plain number above 0 and up to 1e50.
  double positive_number(std::string_view key);
  /// A plain number from kLeastShare to 1.
  double share(std::string_view key);
  /// true or false; `fallback` without the key.
  bool flag_or(std::string_view key, bool fallback);
  ObjectReader object(std::string_view key);
  const Json& array(std::string_view key);

  /// The place of the text in `names`; for any other text the nearest name is proposed.
  std::size_t choice(std::string_view key, std::span<const std::string_view> names);

  /// The value of an enumeration that has this name.
  template <typename Enum, std::size_t N>
  Enum choice(std::string_view key, const EnumNames<Enum, N>& names) {
    return static_cast<Enum>(choice(key, std::span<const std::string_view>(names.all())));
  }
  /// The same; `fallback` without the key.
  template <typename Enum, std::size_t N>
  Enum choice_or(std::string_view key, const EnumNames<Enum, N>& names, Enum fallback) {
    return has(key) ? choice(key, names) : fallback;
  }

  /// Refuses the keys that nobody asked for. @throws UnknownKeyError with the nearest known key.
  void finish() const;

 private:
  [[noreturn]] void unknown_key(std::string_view key,
                                std::span<const std::string_view> known) const;

  const Json& value_;
  std::string place_;
  std::vector<std::string_view> asked_;
};

/// An integer from `least` to `most`, at `place`.
std::uint64_t read_integer(const Json& value, const std::string& place, std::uint64_t least,
                           std::uint64_t most);

/// A smaller one is of no machine, and what follows from it no number: faults have the same limit.
inline constexpr double kLeastShare = 1e-9;

/// What read_share() wants, for messages.
inline constexpr std::string_view kExpectedShare = "a number from 1e-9 to 1";

/// A plain number from kLeastShare to 1, at `place`.
double read_share(const Json& value, const std::string& place);

/// Refuses a rate above 0 of less than 1e-9 of its base unit, a time of more than 1e9 s and more than 1e50 of anything
/// else: times that follow from them would be no numbers. Negative ones are the caller's to refuse.
void check_magnitude(double value, const std::string& place, units::Dimension dimension);

/// A quantity with its unit in a string, at `place`, of any magnitude; bytes may also be an integer, as results have
/// them.
double read_quantity(const Json& value, const std::string& place, units::Dimension dimension);

/// What read_quantity() takes, for messages: "a time with its unit, like "1 us"".
std::string expected_quantity(units::Dimension dimension);

/// The one key of `alternatives` that is there; empty if none is. @throws InputError if there are two.
std::string_view exactly_one(ObjectReader& reader, std::span<const std::string_view> alternatives,
                             const std::string& place);

/// A choice among values that have a name().
template <typename Enum, std::size_t N>
Enum choose(ObjectReader& reader, std::string_view key, const std::array<Enum, N>& values,
            Enum fallback) {
  if (!reader.has(key)) return fallback;
  std::array<std::string_view, N> names;
  std::ranges::transform(values, names.begin(), [](Enum value) { return name(value); });
  return values[reader.choice(key, names)];
}

/// What a JSON value is, for messages: "a number".
std::string_view kind_of(const Json& value);

}  // namespace equarx::input
