// How the collectives of a step are carried out: "variants" of a configuration.
#pragma once

#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Reads the variants of a step whose collectives are `calls`; one that is plain if there are none. Of the rules of a
/// variant the first that is for a collective decides; a collective that none is for goes plain, by usual_algorithm().
/// @throws input::InputError for what is not valid, and for a rule that is for no collective
std::vector<StepVariant> read_variants(input::ObjectReader& reader, const ExperimentConfig& machine,
                                       const steps::Mesh& mesh, const std::vector<StepCall>& calls);

}  // namespace equarx::config
