#include "models/numerics/errors/perplexity.hpp"

#include <fmt/format.h>

namespace equarx::numerics {

std::string perplexity_text(double nmse) {
  constexpr double kSafe = 3e-4;    // the upper end of the interval is 0.1 %
  constexpr double kLinear = 1e-3;  // from here on the ratio was measured for every format
  constexpr double kMost = 5e-2;
  constexpr double kLowRatio = 0.8;
  constexpr double kHighRatio = 1.6;
  constexpr double kPercent = 100.0;
  if (nmse <= kSafe) return "grows by less than 0.1 %";
  if (nmse < kLinear) return fmt::format("grows by up to {:.2g} %", kPercent * kHighRatio * nmse);
  if (nmse <= kMost)
    return fmt::format("grows by {:.2g} to {:.2g} %", kPercent * kLowRatio * nmse,
                       kPercent * kHighRatio * nmse);
  return fmt::format("grows by more than {:.2g} %, beyond the studied range",
                     kPercent * kLowRatio * nmse);
}

}  // namespace equarx::numerics
