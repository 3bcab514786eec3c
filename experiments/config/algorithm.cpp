#include "experiments/config/algorithm.hpp"

namespace equarx::config {

std::string_view algorithm_name(Algorithm algorithm) {
  return algorithm == kAutomatic ? "auto" : algorithm->name;
}

std::vector<Algorithm> algorithms_of(collectives::Collective collective) {
  std::vector<Algorithm> found;
  for (const collectives::AlgorithmInfo& algorithm : collectives::algorithms())
    if (algorithm.does(collective)) found.push_back(&algorithm);
  return found;
}

std::vector<Algorithm> tried_algorithms(collectives::Collective collective, bool with_network) {
  std::vector<Algorithm> tried = algorithms_of(collective);
  std::erase_if(tried, [&](Algorithm algorithm) {
    return algorithm->is_published ||
           (!with_network && collectives::is_of_slices(algorithm->layout));
  });
  return tried;
}

bool has_ring_style(Algorithm algorithm) {
  return algorithm == kAutomatic || algorithm->has_ring_style;
}

bool has_two_phases(Algorithm algorithm) {
  return algorithm == kAutomatic || algorithm->has_two_phases;
}

bool can_be_quantized(Algorithm algorithm) {
  return algorithm == kAutomatic || algorithm->can_be_quantized;
}

bool can_be_plain(Algorithm algorithm) {
  return algorithm == kAutomatic || algorithm->can_be_plain;
}

bool fits_format(Algorithm algorithm, const numerics::BlockFormat& format) {
  if (format.scaled) return can_be_quantized(algorithm);
  if (algorithm == kAutomatic) return true;
  const bool in_levels = collectives::is_of_slices(algorithm->layout);  // levels are summed in FP32
  const bool in_fp32 = in_levels || algorithm->in_switch;
  if (in_fp32 && numerics::has_shared_scale(format)) return false;
  return algorithm->can_be_plain && (algorithm->adds_in_twos || !numerics::adds_by_code(format));
}

}  // namespace equarx::config
