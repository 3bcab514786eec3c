// Quantities with their unit in a string: "45 GB/s", "1 us", "32 MiB".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace equarx::units {

/// What a quantity measures. Values are held in the base unit named behind each.
enum class Dimension {
  bytes,       ///< B
  bandwidth,   ///< B/s
  time,        ///< s
  frequency,   ///< Hz
  operations,  ///< op/s
};

/// Reads a quantity such as "45 GB/s" into the base unit of its dimension.
///
/// A number, white space (may be left out) and a unit. Prefixes k, M, G, T, P are powers of 1000
/// and Ki, Mi, Gi, Ti powers of 1024; time takes m, u and n; b is bit and B is byte (1 B = 8 b).
/// @throws std::invalid_argument if the number or the unit is missing, or the unit is of another
///         dimension, or the value is not finite; the message shows what would be right.
double parse(std::string_view text, Dimension dimension);

/// Writes `value` (base unit) with the prefix that leaves 1 to 1000 before the decimal point, and with the
/// fewest digits from which parse() reads the same double again: "45 GB/s". Where at most 12 digits miss it
/// by no more than its last bit, which computing it may have cost, they are taken: "200 ns", and not
/// "200.00000000000003 ns". What parse() read from that many digits is always read again to the last bit.
/// Bytes take the largest prefix, 1000- or 1024-based, that leaves a whole number.
std::string format(double value, Dimension dimension);

/// As format(), rounded to four significant digits: for tables that people read.
std::string format_short(double value, Dimension dimension);
/// The same; a plain number without a dimension.
std::string format_short(double value, std::optional<Dimension> dimension);

/// format_short() of seconds: "363.1 us".
std::string time_text(double seconds);

/// format_short() of bytes: "32.00 MiB".
std::string bytes_text(double bytes);

/// A correct example, for messages: "45 GB/s".
std::string_view example(Dimension dimension);

/// What the dimension is called, for messages: "a bandwidth".
std::string_view name(Dimension dimension);

}  // namespace equarx::units
