#include "models/numerics/codec/automatic_mu.hpp"

#include <cmath>
#include <stdexcept>

namespace equarx::numerics {

AutomaticMu::AutomaticMu(double mu) : mu_(mu) {
  if (!(mu > 0.0) || !std::isfinite(mu)) throw std::invalid_argument("mu must be a number above 0");
}

void AutomaticMu::update(double share) {
  constexpr double kMostAtLargest = 1e-5;
  constexpr double kStepsToDouble = 1000.0;
  if (!(share >= 0.0 && share <= 1.0)) throw std::invalid_argument("share must be from 0 to 1");
  mu_ *= share > kMostAtLargest ? 0.5 : std::exp2(1.0 / kStepsToDouble);
}

}  // namespace equarx::numerics
