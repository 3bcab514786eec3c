// Cost and energy of a step, as text.
#pragma once

#include <string>

#include "experiments/step/results.hpp"

namespace equarx::result {

/// Cost of each variant per million tokens, of training per 1e12, of other steps per step; empty if
/// the chip has no price.
std::string cost_text(const step::StepResult& result);

/// Energy of each variant per token or step, its model and omissions; empty if the chip has no
/// powers.
std::string energy_text(const step::StepResult& result);

/// Lines of both.
std::string expenses_note(const step::StepResult& result);

}  // namespace equarx::result
