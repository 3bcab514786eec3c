#include "experiments/sweep/range.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/units/quantity.hpp"

namespace equarx::sweep {
namespace {

using units::Dimension;

/// A number or a quantity.
struct Value {
  double number = 0.0;  ///< in the base unit of a quantity
  std::optional<Dimension> dimension = {};
  bool integer = false;
};

Value read_value(input::ObjectReader& reader, std::string_view key) {
  const input::Json& json = reader.required(key, "a number, or a quantity with its unit");
  if (json.is_number()) return {json.get<double>(), std::nullopt, json.is_number_integer()};
  const std::string text = reader.text(key, "a number, or a quantity with its unit");
  for (const Dimension dimension : units::kDimensions) {
    try {
      return {units::parse(text, dimension), dimension, false};
    } catch (const std::invalid_argument&) {
      continue;  // try the next dimension
    }
  }
  throw input::InputError(
      reader.pointer_to(key),
      fmt::format("'{}' is not a quantity; write a number, or one like \"4 KiB\" or \"2 us\"",
                  text));
}

/// Removes the rounding noise in the last digits of sums and products of decimal numbers.
double without_noise(double number) {
  // Not std::stod(), which throws for numbers hardly above 0.
  const double rounded = std::strtod(fmt::format("{:.15g}", number).c_str(), nullptr);
  return std::isfinite(rounded) ? rounded : number;  // the largest double rounds up to infinity
}

input::Json to_json(double number, const Value& like, bool integer) {
  if (integer) return input::Json(static_cast<std::int64_t>(std::llround(number)));
  if (!like.dimension) return input::Json(without_noise(number));
  const bool whole = *like.dimension == Dimension::bytes;
  return input::Json(
      units::format(whole ? std::round(number) : without_noise(number), *like.dimension));
}

/// Returns the number of values: `steps`, which may miss a whole number by rounding, plus one.
double count_values(const input::ObjectReader& reader, double steps, std::uint64_t most) {
  constexpr double kRounding = 1e-9;
  const double count = std::floor(steps + kRounding) + 1.0;
  if (count <= static_cast<double>(most)) return count;
  throw input::InputError(
      reader.pointer_to("to"),
      fmt::format("makes {:.4g} values; at most {} are supported{}", count, kMostCombinations,
                  most < kMostCombinations
                      ? fmt::format(" in all axes together, of which {} are left", most)
                      : ""));
}

/// True if all values are integers, as the given numbers are; a double is exact up to 2^53.
bool are_integers(const Value& from, const Value& by, const Value& to) {
  constexpr double kMostExact = 0x1p53;
  return from.integer && by.integer && std::abs(from.number) <= kMostExact &&
         std::abs(to.number) <= kMostExact;
}

std::vector<input::JsonValue> expand(double count, const Value& from, bool integer,
                                     const std::function<double(double)>& at) {
  std::vector<input::JsonValue> values;
  for (double i = 0.0; i < count; ++i) values.push_back(to_json(at(i), from, integer));
  return values;
}

void check_ends(const input::ObjectReader& reader, const Value& from, const Value& to) {
  if (from.dimension != to.dimension)
    throw input::InputError(reader.pointer_to("to"),
                            "is not of the same dimension as 'from'; use the same unit for both");
  if (from.number > to.number)
    throw input::InputError(reader.pointer_to("to"), "is below 'from'; swap them");
}

}  // namespace

std::vector<input::JsonValue> expand_range(input::ObjectReader reader, std::uint64_t most) {
  const Value from = read_value(reader, "from");
  const Value to = read_value(reader, "to");
  const Value step = read_value(reader, "step");
  reader.finish();
  check_ends(reader, from, to);
  if (step.dimension != from.dimension)
    throw input::InputError(reader.pointer_to("step"),
                            "is not of the same dimension as 'from'; use the same unit for both");
  if (!(step.number > 0.0)) throw input::InputError(reader.pointer_to("step"), "is not above 0");
  const double count = count_values(reader, (to.number - from.number) / step.number, most);
  return expand(count, from, are_integers(from, step, to),
                [&](double i) { return from.number + i * step.number; });
}

std::vector<input::JsonValue> expand_log_range(input::ObjectReader reader, std::uint64_t most) {
  const Value from = read_value(reader, "from");
  const Value to = read_value(reader, "to");
  const Value factor = read_value(reader, "factor");
  reader.finish();
  check_ends(reader, from, to);
  if (!(from.number > 0.0)) throw input::InputError(reader.pointer_to("from"), "is not above 0");
  if (factor.dimension || !(factor.number > 1.0))
    throw input::InputError(reader.pointer_to("factor"), "is not a number above 1");
  const double steps = std::log(to.number / from.number) / std::log(factor.number);
  return expand(count_values(reader, steps, most), from, are_integers(from, factor, to),
                [&](double i) { return from.number * std::pow(factor.number, i); });
}

namespace {

input::Json value_schema() {
  return input::schema_of(R"({"x-definition": "value", "type": ["number", "string"]})");
}

}  // namespace

input::Json range_schema() {
  using input::Elsewhere;
  constexpr std::string_view kMeaning = "`from`, `from + step`, ... up to and including `to`";
  static const input::Table<input::ReadElsewhere> table{
      {"from", Elsewhere{value_schema}, kMeaning, input::kRequired},
      {"to", Elsewhere{value_schema}, kMeaning, input::kRequired},
      {"step", Elsewhere{value_schema}, kMeaning, input::kRequired},
  };
  return table.schema();
}

input::Json log_range_schema() {
  using input::Elsewhere;
  constexpr std::string_view kMeaning = "`from`, `from * factor`, ... up to and including `to`";
  static const input::Table<input::ReadElsewhere> table{
      {"from", Elsewhere{value_schema}, kMeaning, input::kRequired},
      {"to", Elsewhere{value_schema}, kMeaning, input::kRequired},
      {"factor", Elsewhere{R"({"type": "number", "exclusiveMinimum": 1})"}, kMeaning,
       input::kRequired},
  };
  return table.schema();
}

}  // namespace equarx::sweep
