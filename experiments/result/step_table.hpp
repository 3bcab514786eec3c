// Tables of step results.
#pragma once

#include <string>

#include "experiments/result/table.hpp"
#include "experiments/step/results.hpp"

namespace equarx::result {

/// One-line description of the simulated step.
std::string title_text(const step::StepResult& result);

/// Table that compares the variants.
std::string overview_table(const step::StepResult& result);

/// Full report: comparison of variants, and task groups of each. With `verbose` also operations and
/// collectives.
std::string to_table(const step::StepResult& result, const TableOptions& options = {});

}  // namespace equarx::result
