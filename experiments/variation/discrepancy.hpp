// Discrepancy of the model: what measured rows leave beside the uncertainty of parameters.
#pragma once

#include <string>
#include <vector>

#include "experiments/accuracy/nearest.hpp"
#include "experiments/accuracy/question.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/step.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::variation {

/// Question that the times of the runs answer.
/// @{
accuracy::Question question_of(const config::ExperimentConfig& config);
accuracy::Question question_of(const config::StepConfig& config);
/// @}

/// The question with machine and size, for the measured rows that are nearest to it.
/// @{
accuracy::Asked asked_of(const config::ExperimentConfig& config);
accuracy::Asked asked_of(const config::StepConfig& config);
/// @}

/// Question of the speedups of quantized collectives on such chips.
accuracy::Question quantized_on(const hardware::Chip& chip);

/// Spreads of the runs of an experiment, in order: that of its question for times, that of quantized
/// collectives for speedups of quantized over plain runs. Unknown ones are 0.
std::vector<Spread> spreads_of(const config::ExperimentConfig& config);

/// Spreads of the variants of a step, likewise. A quantized collective only affects the share of the
/// time that it is exposed. `exposed`: that share, by variant
std::vector<Spread> spreads_of(const config::StepConfig& config,
                               const std::vector<double>& exposed);

/// Standard deviation of the logarithm of figures of a question; 0 if unknown.
double spread_of(accuracy::Question question);

/// True if enough measured rows exist for the discrepancy of a question.
bool is_known(accuracy::Question question);

/// Sentence on the discrepancy of a question, for notes: its size and number of measured rows, or
/// that it is unknown.
std::string discrepancy_text(accuracy::Question question);

}  // namespace equarx::variation
