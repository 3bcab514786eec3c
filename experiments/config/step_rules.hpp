// "variants" of a step configuration: rules that assign algorithms and formats to its collectives.
#pragma once

#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Reads the variants of a step with collectives `calls`; without "variants", a single unquantized
/// one. The first matching rule of a variant applies; collectives without a matching rule are
/// unquantized and use usual_algorithm(). @throws input::InputError if a rule is invalid or matches
/// no collective
std::vector<StepVariant> read_variants(input::ObjectReader& reader, const ExperimentConfig& machine,
                                       const steps::Mesh& mesh, const std::vector<StepCall>& calls);

}  // namespace equarx::config
