// Parsing and formatting of quantities with units: "45 GB/s", "1 us", "32 MiB".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace equarx::units {

/// Physical dimension of a quantity. Values are stored in the base unit noted for each.
enum class Dimension {
  bytes,             ///< B
  bandwidth,         ///< B/s
  time,              ///< s
  frequency,         ///< Hz
  operations,        ///< op/s
  price,             ///< $/h
  power,             ///< W
  energy,            ///< J
  byte_energy,       ///< J/B
  operation_energy,  ///< J/op
};

/// All dimensions.
inline constexpr std::array kDimensions = {
    Dimension::bytes,       Dimension::bandwidth,       Dimension::time,  Dimension::frequency,
    Dimension::operations,  Dimension::price,           Dimension::power, Dimension::energy,
    Dimension::byte_energy, Dimension::operation_energy};

/// Parses a quantity such as "45 GB/s" to the base unit of its dimension.
///
/// Syntax: a number, optional white space and a unit. Prefixes k, M, G, T, P are powers of 1000 and
/// Ki, Mi, Gi, Ti powers of 1024; time and energies take m, u, n and p; b is bit and B is byte
/// (1 B = 8 b). Bandwidths are in B/s or b/s, also written Bps and bps; sizes are in bytes only.
/// A price has no prefix: "$1.20/h" or "1.2 USD/h".
/// @throws std::invalid_argument if the number or the unit is missing, the unit belongs to another
///         dimension, or the value is not finite; the message contains a correct example.
double parse(std::string_view text, Dimension dimension);

/// Formats `value` (base unit) with the prefix that leaves 1 to 1000 before the decimal point and
/// the fewest digits that parse() maps back to the same double: "45 GB/s". At most 12 digits are
/// also accepted if off by at most one ulp, to hide rounding errors of computed values: "200 ns",
/// not "200.00000000000003 ns". Values parsed from at most 12 digits always round-trip exactly.
/// Bytes use the largest prefix, 1000- or 1024-based, that leaves a whole number.
std::string format(double value, Dimension dimension);

/// Like format(), rounded to four significant digits, for tables.
std::string format_short(double value, Dimension dimension);
/// Likewise; a plain number if there is no dimension.
std::string format_short(double value, std::optional<Dimension> dimension);

/// format_short() of seconds: "363.1 us".
std::string time_text(double seconds);

/// Unit of the values: "B", "$/h".
std::string_view base_unit(Dimension dimension);

/// format_short() of bytes: "32.00 MiB".
std::string bytes_text(double bytes);

/// A correct example, for messages: "45 GB/s".
std::string_view example(Dimension dimension);

/// Name of the dimension with its article, for messages: "a bandwidth".
std::string_view name(Dimension dimension);

}  // namespace equarx::units
