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

/// Prefixes that the units of a dimension take.
enum class Prefixes { none, large, large_and_binary, small, small_and_large };

struct DimensionInfo {
  std::string_view name;
  std::string_view example;
  std::vector<Unit> units;  // the first is used for output
  Prefixes prefixes;

  bool takes_small() const {
    return prefixes == Prefixes::small || prefixes == Prefixes::small_and_large;
  }
  bool takes_large() const { return prefixes != Prefixes::none && prefixes != Prefixes::small; }
  /// Powers of 1024.
  bool takes_binary() const { return prefixes == Prefixes::large_and_binary; }
};

const DimensionInfo& info(Dimension dimension) {
  constexpr double kBitsPerByte = 8.0;
  static const DimensionInfo bytes{"a size", "32 MiB", {{"B", 1}}, Prefixes::large_and_binary};
  static const DimensionInfo bandwidth{
      "a bandwidth",
      "45 GB/s",
      {{"B/s", 1}, {"b/s", kBitsPerByte}, {"Bps", 1}, {"bps", kBitsPerByte}},
      Prefixes::large_and_binary};
  static const DimensionInfo time{"a time", "1 us", {{"s", 1}}, Prefixes::small};
  static const DimensionInfo frequency{
      "a frequency", "1.5 GHz", {{"Hz", 1}}, Prefixes::large_and_binary};
  static const DimensionInfo operations{"a rate of operations",
                                        "6.1 Top/s",
                                        {{"op/s", 1}, {"OP/s", 1}, {"FLOP/s", 1}},
                                        Prefixes::large_and_binary};
  static const DimensionInfo price{
      "a price", "$1.20/h", {{"$/h", 1}, {"USD/h", 1}}, Prefixes::none};
  static const DimensionInfo power{"a power", "200 W", {{"W", 1}}, Prefixes::large};
  static const DimensionInfo energy{"an energy", "5 mJ", {{"J", 1}}, Prefixes::small_and_large};
  static const DimensionInfo byte_energy{
      "an energy per byte",
      "30 pJ/B",
      {{"J/B", 1}, {"J/b", 1 / kBitsPerByte}, {"J/bit", 1 / kBitsPerByte}},
      Prefixes::small};
  static const DimensionInfo operation_energy{"an energy per operation",
                                              "0.3 pJ/op",
                                              {{"J/op", 1}, {"J/OP", 1}, {"J/FLOP", 1}},
                                              Prefixes::small};
  switch (dimension) {
    case Dimension::bytes: return bytes;
    case Dimension::bandwidth: return bandwidth;
    case Dimension::time: return time;
    case Dimension::frequency: return frequency;
    case Dimension::operations: return operations;
    case Dimension::price: return price;
    case Dimension::power: return power;
    case Dimension::energy: return energy;
    case Dimension::byte_energy: return byte_energy;
    case Dimension::operation_energy: return operation_energy;
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
  for (const Unit& base : dimension.units) {
    if (unit == base.text) return number / base.divisor;
    const Prefix* found =
        dimension.takes_small() ? find_prefix(kSmallDivisors, unit, base.text) : nullptr;
    if (found == nullptr && dimension.takes_large()) found = find_prefix(kLarge, unit, base.text);
    if (found != nullptr) return moved_point(text, found->tens, number) / base.divisor;
    if (!dimension.takes_binary()) continue;
    found = find_prefix(kBinary, unit, base.text);
    if (found != nullptr) return number * found->factor / base.divisor;
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
  if (about.takes_small() && magnitude > 0.0 && magnitude < 1.0) {
    for (const Prefix& prefix : kSmallDivisors)
      if (magnitude * prefix.factor >= 1.0 || prefix.text == kSmallDivisors.back().text)
        return {value * prefix.factor, prefix.text};
  }
  if (!about.takes_large()) return {value, ""};
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

/// "45 GB/s"; "$1.2/h" with the currency first.
std::string written(std::string_view number, std::string_view prefix, Dimension dimension) {
  const std::string_view unit = info(dimension).units.front().text;
  return dimension == Dimension::price ? fmt::format("${}{}", number, unit.substr(1))
                                       : fmt::format("{} {}{}", number, prefix, unit);
}

/// Moves the currency of "$1.20/h" to its unit: "1.20 $/h".
std::string currency_last(std::string_view text) {
  const auto unit = text.find('/');
  if (!text.starts_with('$') || unit == std::string_view::npos) return std::string(text);
  return fmt::format("{} ${}", text.substr(1, unit - 1), text.substr(unit));
}

}  // namespace

std::string_view example(Dimension dimension) { return info(dimension).example; }
std::string_view name(Dimension dimension) { return info(dimension).name; }
std::string_view base_unit(Dimension dimension) { return info(dimension).units.front().text; }

double parse(std::string_view text, Dimension dimension) {
  const std::string moved = dimension == Dimension::price ? currency_last(trim(text)) : "";
  const std::string_view trimmed = dimension == Dimension::price ? trim(moved) : trim(text);
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
    if (error <= allowed) return written(text, prefix, dimension);
  }
  // Scaling may lose the last bit; the unscaled number round-trips.
  return written(fmt::format("{}", value), "", dimension);
}

std::string format_short(double value, Dimension dimension) {
  const auto [number, prefix] = scale(value, dimension, false);
  return written(fmt::format("{:#.4g}", number), prefix, dimension);
}

std::string format_short(double value, std::optional<Dimension> dimension) {
  return dimension ? format_short(value, *dimension) : fmt::format("{:.4g}", value);
}

std::string time_text(double seconds) { return format_short(seconds, Dimension::time); }

std::string bytes_text(double bytes) { return format_short(bytes, Dimension::bytes); }

}  // namespace equarx::units
