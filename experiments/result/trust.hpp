// How far the figures of a result can be trusted, for people.
#pragma once

#include <string>

#include "experiments/run/results.hpp"

namespace equarx::result {

/// Lines on what the times rest on: whether the chip was calibrated, and what the intervals are.
std::string trust_note(const run::ExperimentResult& result);

/// By how much each parameter moves times and speedups, the most telling first; empty if nobody asked.
std::string sensitivity_table(const run::ExperimentResult& result);

}  // namespace equarx::result
