#include "base/input/object_reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"

namespace equarx::input {
namespace {

[[noreturn]] void wrong_type(const std::string& pointer, std::string_view expected,
                             const Json& value) {
  throw InputError(pointer, fmt::format("expected {}, found {}", expected, kind_of(value)));
}

double read_number(const Json& value, const std::string& pointer, std::string_view expected) {
  if (!value.is_number()) wrong_type(pointer, expected, value);
  return value.get<double>();
}

// No machine lies beyond these limits. Times computed from bytes and operations of kMost at rates
// of kLeastRate, with every factor applied, stay far below the largest double.
constexpr double kLeastRate = 1e-9;  // of the base unit, so of B/s
constexpr double kMostTime = 1e9;    // s, thirty years
constexpr double kMost = 1e50;       // B, or a plain number

[[noreturn]] void reject_magnitude(double value, const std::string& pointer,
                                   units::Dimension dimension, double limit) {
  const bool is_large = value > limit;
  throw InputError(pointer,
                   fmt::format("{} is too {}; {} is at {} {}", units::format(value, dimension),
                               is_large ? "large" : "small", units::name(dimension),
                               is_large ? "most" : "least", units::format(limit, dimension)));
}

}  // namespace

std::string_view kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "an array";
    case Json::value_t::string: return "a string";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    default: return "a number";
  }
}

std::uint64_t read_integer(const Json& value, const std::string& pointer, std::uint64_t least,
                           std::uint64_t most) {
  if (!value.is_number()) wrong_type(pointer, "an integer", value);
  const bool is_natural =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  const bool fits =
      is_natural && value.get<std::uint64_t>() >= least && value.get<std::uint64_t>() <= most;
  if (!fits)
    throw InputError(pointer,
                     fmt::format("{} is not an integer from {} to {}", value.dump(), least, most));
  return value.get<std::uint64_t>();
}

void check_magnitude(double value, const std::string& pointer, units::Dimension dimension) {
  const bool is_rate = dimension == units::Dimension::bandwidth ||
                       dimension == units::Dimension::frequency ||
                       dimension == units::Dimension::operations;
  const double most = dimension == units::Dimension::time ? kMostTime : kMost;
  if (value > most) reject_magnitude(value, pointer, dimension, most);
  if (is_rate && value > 0.0 && value < kLeastRate)
    reject_magnitude(value, pointer, dimension, kLeastRate);
}

double read_share(const Json& value, const std::string& pointer) {
  if (!value.is_number() || !(value.get<double>() >= kLeastShare && value.get<double>() <= 1.0))
    throw InputError(pointer, fmt::format("{} is not {}", value.dump(), kExpectedShare));
  return value.get<double>();
}

std::string expected_quantity(units::Dimension dimension) {
  const std::string text = fmt::format("{} with its unit, like \"{}\"", units::name(dimension),
                                       units::example(dimension));
  return dimension == units::Dimension::bytes ? text + ", or a whole number of bytes" : text;
}

double read_quantity(const Json& value, const std::string& pointer, units::Dimension dimension) {
  if (dimension == units::Dimension::bytes && value.is_number_unsigned())
    return static_cast<double>(value.get<std::uint64_t>());
  if (!value.is_string()) wrong_type(pointer, expected_quantity(dimension), value);
  return at(pointer, [&] { return units::parse(value.get<std::string>(), dimension); });
}

ObjectReader::ObjectReader(const Json& value, std::string pointer)
    : value_(value), pointer_(std::move(pointer)) {
  if (!value.is_object())
    wrong_type(pointer_.empty() ? "the document" : pointer_, "an object", value);
}

bool ObjectReader::has(std::string_view key) {
  known_.push_back(key);
  return value_.contains(key);
}

void ObjectReader::reject(std::string_view key, std::string_view reason) {
  if (has(key)) throw InputError(pointer_to(key), std::string(reason));
}

std::string ObjectReader::pointer_to(std::string_view key) const { return pointer(pointer_, key); }

std::string ObjectReader::pointer_to(std::string_view key, std::size_t index) const {
  return pointer(pointer_to(key), index);
}

const Json& ObjectReader::required(std::string_view key, std::string_view expected) {
  if (has(key)) return value_.at(std::string(key));
  for (const auto& [present, value] : value_.items()) {
    const bool is_known = std::ranges::find(known_, present) != known_.end();
    if (!is_known && is_misspelt(present, key)) unknown_key(present, std::array{key});
  }
  throw InputError(pointer_to(key), fmt::format("is missing; expected {}", expected));
}

std::string ObjectReader::text(std::string_view key) { return text(key, "a string"); }

std::string ObjectReader::text(std::string_view key, std::string_view expected) {
  const Json& value = required(key, expected);
  if (!value.is_string()) wrong_type(pointer_to(key), expected, value);
  return value.get<std::string>();
}

double ObjectReader::quantity(std::string_view key, units::Dimension dimension) {
  const Json& value = required(key, expected_quantity(dimension));
  const double quantity = read_quantity(value, pointer_to(key), dimension);
  check_magnitude(quantity, pointer_to(key), dimension);
  return quantity;
}

std::uint64_t ObjectReader::integer(std::string_view key, std::uint64_t least, std::uint64_t most) {
  return read_integer(required(key, "an integer"), pointer_to(key), least, most);
}

double ObjectReader::number(std::string_view key, std::string_view expected) {
  return read_number(required(key, expected), pointer_to(key), expected);
}

double ObjectReader::positive_number(std::string_view key) {
  constexpr std::string_view kExpected = "a number above 0";
  const Json& value = required(key, kExpected);
  const double number = read_number(value, pointer_to(key), kExpected);
  if (!(number > 0.0))
    throw InputError(pointer_to(key), fmt::format("{} is not above 0", value.dump()));
  if (number > kMost)
    throw InputError(pointer_to(key), fmt::format("{} is more than {}", value.dump(), kMost));
  return number;
}

double ObjectReader::share(std::string_view key) {
  return read_share(required(key, kExpectedShare), pointer_to(key));
}

bool ObjectReader::flag_or(std::string_view key, bool fallback) {
  if (!has(key)) return fallback;
  const Json& value = required(key, "true or false");
  if (!value.is_boolean()) wrong_type(pointer_to(key), "true or false", value);
  return value.get<bool>();
}

ObjectReader ObjectReader::object(std::string_view key) {
  return {required(key, "an object"), pointer_to(key)};
}

const Json& ObjectReader::array(std::string_view key) {
  const Json& value = required(key, "an array");
  if (!value.is_array()) wrong_type(pointer_to(key), "an array", value);
  return value;
}

std::size_t ObjectReader::choice(std::string_view key, std::span<const std::string_view> names) {
  const std::string text = this->text(key, fmt::format("one of {}", list_of(names)));
  const auto found = std::ranges::find(names, text);
  if (found == names.end())
    throw InputError(pointer_to(key),
                     fmt::format("'{}' is not known; {}", text, remedy_of_all(text, names)));
  return static_cast<std::size_t>(found - names.begin());
}

void ObjectReader::finish() const {
  for (const auto& [key, value] : value_.items())
    if (std::ranges::find(known_, key) == known_.end()) unknown_key(key, known_);
}

void ObjectReader::unknown_key(std::string_view key,
                               std::span<const std::string_view> known) const {
  std::vector<std::string_view> names;  // a key may be read more than once
  for (const std::string_view name : known)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  throw UnknownKeyError(pointer_to(key),
                        names.empty()
                            ? fmt::format("unknown key '{}'; remove it", key)
                            : fmt::format("unknown key '{}'; {}", key, remedy(key, names)));
}

std::string_view exactly_one(ObjectReader& reader, std::span<const std::string_view> alternatives,
                             const std::string& pointer) {
  std::string_view found;
  for (const std::string_view key : alternatives) {
    if (!reader.has(key)) continue;
    if (!found.empty())
      throw InputError(pointer,
                       fmt::format("has both '{}' and '{}'; give one of them", found, key));
    found = key;
  }
  return found;
}

}  // namespace equarx::input
