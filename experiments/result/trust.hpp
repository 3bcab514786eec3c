// Calibration, uncertainty and sensitivities of a result, as text.
#pragma once

#include <string>

#include "experiments/run/results.hpp"

namespace equarx::result {

/// Notes on missing calibration and on how the intervals were computed.
std::string trust_note(const run::ExperimentResult& result);

/// Table of the sensitivities of times and speedups, largest first; empty if not requested.
std::string sensitivity_table(const run::ExperimentResult& result);

}  // namespace equarx::result
