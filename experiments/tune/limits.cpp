#include "experiments/tune/limits.hpp"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/units/quantity.hpp"

namespace equarx::tune {
namespace {

/// Parses a number, followed by `unit` if it is not empty.
double read_number(const std::string& option, const std::string& text, std::string_view unit,
                   std::string_view example) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  std::string_view rest = end;
  while (!unit.empty() && rest.starts_with(' ')) rest.remove_prefix(1);
  if (end == text.c_str() || rest != unit || !std::isfinite(value))
    throw input::InputError(option,
                            fmt::format("'{}' is not a number{}; write it like {}", text,
                                        unit.empty() ? "" : fmt::format(" of {}", unit), example));
  return value;
}

}  // namespace

std::optional<double> read_time(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kMinutes = "min";
  const double seconds = input::at(option, [&] {
    if (!text.ends_with(kMinutes)) return units::parse(text, units::Dimension::time);
    const std::string number = text.substr(0, text.size() - kMinutes.size());
    return 60.0 * units::parse(number + "s", units::Dimension::time);
  });
  if (seconds <= 0.0) throw input::InputError(option, fmt::format("{} is not above 0", text));
  return seconds;
}

TuneLimits read_limits(const TuneLimitTexts& texts) {
  TuneLimits limits;
  if (!texts.max_nmse.empty() && !texts.min_sqnr.empty())
    throw input::InputError("--min-sqnr", "sets the same limit as --max-nmse; give one of them");
  if (!texts.max_nmse.empty()) {
    limits.max_nmse = read_number("--max-nmse", texts.max_nmse, "", "1e-3");
    if (*limits.max_nmse <= 0.0)
      throw input::InputError("--max-nmse", fmt::format("{} is not above 0", texts.max_nmse));
  }
  if (!texts.min_sqnr.empty()) {
    constexpr double kDecibels = 10.0;
    const double sqnr_db = read_number("--min-sqnr", texts.min_sqnr, "dB", "'30 dB'");
    limits.max_nmse = std::pow(kDecibels, -sqnr_db / kDecibels);
    limits.error_option = "--min-sqnr";
  }
  limits.max_time_s = read_time("--max-time", texts.max_time);
  return limits;
}

}  // namespace equarx::tune
