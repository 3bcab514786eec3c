#include "base/units/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace equarx::units {
namespace {

struct Prefix {
  std::string_view text;
  double factor;
  int tens = 0;  // decimal exponent, applied to the decimal text of the number
  std::string_view name = {};
};

constexpr std::array kLarge = {Prefix{"", 1.0, 0, ""},        Prefix{"k", 1e3, 3, "kilo"},
                               Prefix{"M", 1e6, 6, "mega"},   Prefix{"G", 1e9, 9, "giga"},
                               Prefix{"T", 1e12, 12, "tera"}, Prefix{"P", 1e15, 15, "peta"}};
constexpr std::array kBinary = {Prefix{"Ki", 0x1p10, 0, "kibi"}, Prefix{"Mi", 0x1p20, 0, "mebi"},
                                Prefix{"Gi", 0x1p30, 0, "gibi"}, Prefix{"Ti", 0x1p40, 0, "tebi"}};
// Small prefixes as divisors: 1 / 1e6 is the double closest to 1 us, 1 * 1e-6 need not be.
constexpr std::array kSmallDivisors = {Prefix{"m", 1e3, -3}, Prefix{"u", 1e6, -6},
                                       Prefix{"n", 1e9, -9}, Prefix{"p", 1e12, -12}};

struct Unit {
  std::string_view text;
  double divisor;  // number of these units per base unit: a power of two
};

struct DimensionInfo {
  std::string_view name;
  std::string_view example;
  std::vector<Unit> units;  // the first is used for output
  bool small_prefixes;
};

const DimensionInfo& info(Dimension dimension) {
  constexpr double kBitsPerByte = 8.0;
  static const DimensionInfo bytes{"a size", "32 MiB", {{"B", 1}}, false};
  static const DimensionInfo bandwidth{
      "a bandwidth",
      "45 GB/s",
      {{"B/s", 1}, {"b/s", kBitsPerByte}, {"Bps", 1}, {"bps", kBitsPerByte}},
      false};
  static const DimensionInfo time{"a time", "1 us", {{"s", 1}}, true};
  static const DimensionInfo frequency{"a frequency", "1.5 GHz", {{"Hz", 1}}, false};
  static const DimensionInfo operations{
      "a rate of operations", "6.1 Top/s", {{"op/s", 1}, {"OP/s", 1}, {"FLOP/s", 1}}, false};
  switch (dimension) {
    case Dimension::bytes: return bytes;
    case Dimension::bandwidth: return bandwidth;
    case Dimension::time: return time;
    case Dimension::frequency: return frequency;
    case Dimension::operations: return operations;
  }
  throw std::logic_error("unknown dimension");
}

const Prefix* find_prefix(std::span<const Prefix> prefixes, std::string_view unit,
                          std::string_view base) {
  for (const Prefix& prefix : prefixes)
    if (unit.size() == prefix.text.size() + base.size() && unit.starts_with(prefix.text) &&
        unit.ends_with(base))
      return &prefix;
  return nullptr;
}

/// Returns `text`, a decimal number, times a power of ten, correctly rounded, so that "0.25 us" and
/// "250 ns" are equal. Multiplying doubles could be off by one ulp.
double moved_point(std::string_view text, int tens, double number) {
  const auto mark = text.find_first_of("eE");
  int exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  const std::string moved = fmt::format("{}e{}", text.substr(0, mark), exponent + tens);
  double value = 0.0;
  const auto [end, error] = std::from_chars(moved.data(), moved.data() + moved.size(), value);
  // Overflow or underflow: infinity or 0.
  return error == std::errc{} ? value : number * std::pow(10.0, tens);
}

/// Converts a number, given as text and as a double, from `unit` to the base unit; std::nullopt if
/// the unit does not belong to the dimension.
std::optional<double> to_base(std::string_view text, double number, std::string_view unit,
                              const DimensionInfo& dimension) {
  const std::span<const Prefix> small = kSmallDivisors;
  for (const Unit& base : dimension.units) {
    if (unit == base.text) return number / base.divisor;
    if (const Prefix* found =
            find_prefix(dimension.small_prefixes ? small : kLarge, unit, base.text))
      return moved_point(text, found->tens, number) / base.divisor;
    if (dimension.small_prefixes) continue;
    if (const Prefix* found = find_prefix(kBinary, unit, base.text))
      return number * found->factor / base.divisor;
  }
  return std::nullopt;
}

/// Rejects a size in bits, most likely a typo of bytes: "4 Mib" is 512 KiB.
void check_no_bits(std::string_view number_text, double number, std::string_view unit) {
  constexpr double kBitsPerByte = 8.0;
  for (const std::span<const Prefix> prefixes : {std::span<const Prefix>(kLarge), {kBinary}})
    if (const Prefix* found = find_prefix(prefixes, unit, "b"))
      throw std::invalid_argument(fmt::format(
          "{0} {1} is {0} {2}bits = {3}; write {0} {4}B for bytes, or {5} {4}B", number_text, unit,
          found->name, format(number * found->factor / kBitsPerByte, Dimension::bytes), found->text,
          number / kBitsPerByte));
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// A number and the prefix of its unit.
struct Scaled {
  double number;
  std::string_view prefix;
};

/// Returns the largest prefix that leaves a whole number: 16 GB, although 15625000 KiB is whole as
/// well.
const Prefix& whole_prefix(double value) {
  const Prefix* best = &kLarge.front();
  for (const std::span<const Prefix> prefixes : {std::span<const Prefix>(kBinary), {kLarge}})
    for (const Prefix& prefix : prefixes)
      if (std::abs(value) >= prefix.factor && prefix.factor > best->factor &&
          std::fmod(value, prefix.factor) == 0.0)
        best = &prefix;
  return *best;
}

/// Scales `value` to a suitable prefix. With `exact`, bytes take no prefix that leaves a fraction.
Scaled scale(double value, Dimension dimension, bool exact) {
  const DimensionInfo& about = info(dimension);
  const double magnitude = std::abs(value);
  if (about.small_prefixes && magnitude > 0.0 && magnitude < 1.0) {
    for (const Prefix& prefix : kSmallDivisors)
      if (magnitude * prefix.factor >= 1.0 || prefix.text == kSmallDivisors.back().text)
        return {value * prefix.factor, prefix.text};
  }
  if (about.small_prefixes) return {value, ""};
  if (dimension == Dimension::bytes && exact) {
    const Prefix& prefix = whole_prefix(value);
    return {value / prefix.factor, prefix.text};
  }
  const std::span<const Prefix> prefixes =
      dimension == Dimension::bytes ? std::span<const Prefix>(kBinary) : kLarge;
  for (auto prefix = prefixes.rbegin(); prefix != prefixes.rend(); ++prefix)
    if (magnitude >= prefix->factor) return {value / prefix->factor, prefix->text};
  return {value, ""};
}

}  // namespace

std::string_view example(Dimension dimension) { return info(dimension).example; }
std::string_view name(Dimension dimension) { return info(dimension).name; }

double parse(std::string_view text, Dimension dimension) {
  const std::string_view trimmed = trim(text);
  double number = 0.0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error != std::errc{} || !std::isfinite(number))
    throw std::invalid_argument(
        fmt::format("'{}' is not {}; write a number and a unit, like \"{}\"", text, name(dimension),
                    example(dimension)));
  const auto length = static_cast<std::size_t>(end - trimmed.data());
  const std::string_view unit = trim(trimmed.substr(length));
  if (unit.empty())
    throw std::invalid_argument(fmt::format("'{}' has no unit; {} is written like \"{}\"", text,
                                            name(dimension), example(dimension)));
  if (dimension == Dimension::bytes) check_no_bits(trimmed.substr(0, length), number, unit);
  const auto value = to_base(trimmed.substr(0, length), number, unit, info(dimension));
  if (!value)
    throw std::invalid_argument(
        fmt::format("'{}' is not a unit of {}, which is written like \"{}\"", unit, name(dimension),
                    example(dimension)));
  if (!std::isfinite(*value)) throw std::invalid_argument(fmt::format("'{}' is too large", text));
  return *value;
}

std::string format(double value, Dimension dimension) {
  constexpr int kMaxDigits = 17;  // enough to identify any double
  constexpr int kShortDigits = 12;
  const auto [number, prefix] = scale(value, dimension, true);
  const std::string unit = fmt::format("{}{}", prefix, info(dimension).units[0].text);
  for (int digits = 1; digits <= kMaxDigits; ++digits) {
    // Infinite if rounding up overflows; the error is then infinite too.
    const double rounded = std::strtod(fmt::format("{:.{}g}", number, digits).c_str(), nullptr);
    const std::string text = fmt::format("{}", rounded);
    const double error = std::abs(to_base(text, rounded, unit, info(dimension)).value() - value);
    // At most 1 ulp; texts with so few digits are further apart, so at most one qualifies.
    const double allowed = digits <= kShortDigits ? 0x1p-52 * std::abs(value) : 0.0;
    if (error <= allowed) return fmt::format("{} {}", text, unit);
  }
  // Scaling may lose the last bit; the unscaled number round-trips.
  return fmt::format("{} {}", value, info(dimension).units[0].text);
}

std::string format_short(double value, Dimension dimension) {
  const auto [number, prefix] = scale(value, dimension, false);
  return fmt::format("{:#.4g} {}{}", number, prefix, info(dimension).units[0].text);
}

std::string format_short(double value, std::optional<Dimension> dimension) {
  return dimension ? format_short(value, *dimension) : fmt::format("{:.4g}", value);
}

std::string time_text(double seconds) { return format_short(seconds, Dimension::time); }

std::string bytes_text(double bytes) { return format_short(bytes, Dimension::bytes); }

}  // namespace equarx::units
