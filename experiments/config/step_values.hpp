// "values" of a step configuration: the tensors of its collectives, whose errors are then computed.
#pragma once

#include <optional>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Elements whose values are computed by default, as a share of the tensor.
inline constexpr double kSampledElements = 1 << 17;

/// Reads the values of the collectives `calls`, and opens their files: by call, std::nullopt if no
/// rule matches. The first matching rule applies. @throws input::InputError if a rule is invalid or
/// matches no collective, or if its files have another size or number than the collective's tensors
std::vector<std::optional<TensorConfig>> read_step_values(input::ObjectReader& reader,
                                                          const ExperimentConfig& machine,
                                                          const steps::Mesh& mesh,
                                                          const std::vector<StepCall>& calls);

}  // namespace equarx::config
