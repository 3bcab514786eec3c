#pragma once

#include <optional>
#include <string>

namespace equarx::tune {

/// Upper limits on the result of tuning.
struct TuneLimits {
  std::optional<double> max_nmse;
  std::string error_option = "--max-nmse";  ///< option that set `max_nmse`
  std::optional<double> max_time_s;
};

/// Limits as option texts; empty: no limit.
struct TuneLimitTexts {
  std::string max_nmse;  ///< "1e-3"
  std::string min_sqnr;  ///< "30 dB"; equivalent limit
  std::string max_time;  ///< "100 us"
};

/// @throws InputError naming the option
TuneLimits read_limits(const TuneLimitTexts& texts);

/// Parses "100 us" into seconds; std::nullopt if empty. @throws InputError naming the option
std::optional<double> read_time(const std::string& option, const std::string& text);

}  // namespace equarx::tune
