// "faults" of a configuration: links and chips that are not as the others.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Plans the topology, whose links and chips they name.
FaultsConfig read_faults(input::ObjectReader reader, TopologyConfig& topology,
                         const hardware::Chip& chip);
/// Faults as a configuration has them, with every default filled in.
input::Json faults_json(const FaultsConfig& faults);

}  // namespace equarx::config
