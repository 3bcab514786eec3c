#pragma once

#include <optional>
#include <string>

namespace equarx::tune {

/// What the result of tuning must not exceed.
struct TuneLimits {
  std::optional<double> max_nmse;
  std::string error_option = "--max-nmse";  ///< by which a user has given it
  std::optional<double> max_time_s;
};

/// Limits as a user writes them; empty: none.
struct TuneLimitTexts {
  std::string max_nmse;  ///< "1e-3"
  std::string min_sqnr;  ///< "30 dB"; another way to say the same
  std::string max_time;  ///< "100 us"
};

/// @throws InputError that names the option of `tune`.
TuneLimits read_limits(const TuneLimitTexts& texts);

/// Seconds of "100 us"; none if empty. @throws InputError that names the option.
std::optional<double> read_time(const std::string& option, const std::string& text);

}  // namespace equarx::tune
