// "values" of a step configuration: the tensors of its collectives, whose errors are then computed.
#pragma once

#include <optional>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/step.hpp"

namespace equarx::config {

/// Reads the values of the collectives `calls`, and opens their files: by call, std::nullopt if no
/// rule matches. The first matching rule applies. Without "sample", a
/// small_sample() of each tensor is computed. @throws input::InputError if a rule is invalid or
/// matches no collective, or if its files have another size or number than the collective's tensors
std::vector<std::optional<TensorConfig>> read_step_values(
    input::ObjectReader& reader, const ExperimentConfig& machine, const steps::Mesh& mesh,
    const std::vector<StepCall>& calls, const std::vector<steps::ChipLists>& lists);

/// Schema of "values" of a step, with annotations.
input::Json step_values_schema();

}  // namespace equarx::config
