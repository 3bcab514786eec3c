#include "models/numerics/errors/perplexity.hpp"

#include <fmt/format.h>

namespace equarx::numerics {

std::string perplexity_text(double nmse) {
  constexpr double kSafe = 3e-4;    // the upper end of the interval is below 0.1 %
  constexpr double kSteady = 1e-3;  // the ratio is within its range from here on
  constexpr double kMost = 5e-2;
  constexpr double kLowRatio = 1.0;
  constexpr double kHighRatio = 1.6;
  constexpr double kHighRatioOfSmall = 2.1;
  constexpr double kPercent = 100.0;
  if (nmse <= kSafe) return "grows by less than 0.1 %";
  if (nmse < kSteady)
    return fmt::format("grows by up to {:.2g} %", kPercent * kHighRatioOfSmall * nmse);
  if (nmse <= kMost)
    return fmt::format("grows by {:.2g} to {:.2g} %", kPercent * kLowRatio * nmse,
                       kPercent * kHighRatio * nmse);
  return fmt::format("grows by more than {:.2g} %, beyond the studied range",
                     kPercent * kLowRatio * nmse);
}

}  // namespace equarx::numerics
