// How far a comparison of a run with the baseline can be trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/variation/turning_points.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::variation {

/// The recommendation of a comparison.
enum class Verdict : std::uint8_t {
  yes,      ///< faster than the baseline, with an error within the limits
  no,       ///< not both
  unclear,  ///< the speedup interval includes 1, given the uncertainty of the machine's parameters
};
std::string_view name(Verdict verdict);

/// Verdict on a run with this nominal speedup, whose error is within the limits.
Verdict verdict_on(double speedup, const std::optional<Uncertainty>& uncertainty);

/// Dependence of a comparison on the parameters of the machine.
struct Confidence {
  std::optional<Uncertainty> uncertainty;    ///< std::nullopt without uncertain parameters
  std::vector<TurningPoint> turning_points;  ///< at most two, smallest relative change first
  /// The uncertain parameter that contributes most to the interval of the speedup, with its value:
  /// "link_efficiency (0.9)"; empty if none does.
  std::string widest;
};

/// Varies each parameter. `run`: number of the compared run; `speedup`: its nominal speedup;
/// `samples`: of sample(), empty without uncertain parameters
Confidence confidence_in(const Varied& runs, std::size_t run, double speedup,
                         const std::vector<std::vector<Timing>>& samples, const Progress& progress);

}  // namespace equarx::variation
