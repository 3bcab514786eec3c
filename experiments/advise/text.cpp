#include "experiments/advise/text.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units/quantity.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::advise {

std::string line(std::string_view name, const std::string& text) {
  return fmt::format("  {:<18} {}\n", name, text);
}

std::string speedup_text(double speedup) { return fmt::format("{:.2f}x", speedup); }

std::string sqnr_text(double nmse) { return numerics::sqnr_text(numerics::sqnr_db(nmse), 1); }

std::string limits_text(const tune::TuneLimits& limits) {
  std::vector<std::string> texts;
  if (limits.max_nmse) texts.push_back("SQNR of at least " + sqnr_text(*limits.max_nmse));
  if (limits.max_time_s) texts.push_back("at most " + units::time_text(*limits.max_time_s));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string time_text(double time_s, double plain_s, const std::string& plain) {
  const double saved_s = plain_s - time_s;
  return fmt::format("{} instead of {} ({}): {} and {:.1f} % {}, {}", units::time_text(time_s),
                     units::time_text(plain_s), plain, units::time_text(std::abs(saved_s)),
                     100.0 * std::abs(saved_s) / plain_s, saved_s >= 0.0 ? "less" : "more",
                     speedup_text(plain_s / time_s));
}

std::string interval_text(const variation::Confidence& confidence, const std::string& chip) {
  if (!confidence.uncertainty) return "none: no chip parameter has a range or a standard error";
  const variation::Interval& speedup = confidence.uncertainty->speedup;
  return fmt::format("{} to {} (Monte Carlo over the parameter uncertainty of {}, n = {})",
                     speedup_text(speedup.low), speedup_text(speedup.high), chip,
                     confidence.uncertainty->samples);
}

std::string sensitivity_text(const variation::Confidence& confidence) {
  if (confidence.turning_points.empty()) return "no single chip parameter, within a factor of 16";
  std::vector<std::string> texts;
  for (const variation::TurningPoint& point : confidence.turning_points)
    texts.push_back(fmt::format("{} ({})", point.parameter, point.text));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string settling_line(variation::Verdict verdict, const variation::Confidence& confidence) {
  if (verdict != variation::Verdict::unclear || confidence.widest.empty()) return {};
  return line("To settle it:",
              fmt::format("measure {}, which widens the interval most", confidence.widest));
}

std::string trust_lines(const hardware::Chip& chip) {
  const std::string model =
      line("Model error:", variation::discrepancy_text(variation::quantized_on(chip)));
  if (chip.is_calibrated()) return model;
  return model + line("Chip:", fmt::format("{} is not calibrated; times are based on datasheets "
                                           "and assumptions",
                                           chip.name));
}

}  // namespace equarx::advise
