#include "experiments/variation/confidence.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/input/enum_names.hpp"
#include "experiments/variation/sensitivity.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::variation {
namespace {

constexpr input::EnumNames<Verdict, 3> kVerdicts({{Verdict::yes, "yes"},
                                                  {Verdict::no, "no"},
                                                  {Verdict::unclear, "unclear"}});

/// Contribution of a parameter to the standard deviation of the speedup of a run, to first order.
double contribution(const Sensitivity& one, std::size_t run) {
  return std::abs(one.runs[run].speedup) * one.relative_uncertainty;
}

std::string widest_of(const std::vector<Sensitivity>& sensitivities, std::size_t run) {
  const auto most = std::ranges::max_element(
      sensitivities, {}, [&](const Sensitivity& one) { return contribution(one, run); });
  if (most == sensitivities.end() || contribution(*most, run) == 0.0) return {};
  return fmt::format("{} ({})", most->parameter, most->text);
}

}  // namespace

std::string_view name(Verdict verdict) { return kVerdicts[verdict]; }

Verdict verdict_on(double speedup, const std::optional<Uncertainty>& uncertainty) {
  if (uncertainty && uncertainty->speedup.low < 1.0 && uncertainty->speedup.high > 1.0)
    return Verdict::unclear;
  return speedup > 1.0 ? Verdict::yes : Verdict::no;
}

Confidence confidence_in(const Varied& runs, std::size_t run, double speedup,
                         const std::vector<std::vector<Timing>>& samples,
                         const Progress& progress) {
  Confidence confidence;
  if (!samples.empty()) confidence.uncertainty = uncertainties(samples)[run];
  progress("varying each parameter of the machine");
  const std::vector<Sensitivity> found = sensitivities(runs);
  confidence.turning_points = find_turning_points(runs, found, run, speedup);
  confidence.widest = widest_of(found, run);
  return confidence;
}

}  // namespace equarx::variation
