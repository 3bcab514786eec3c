// The "faults" of a configuration: degraded links and chips.
#pragma once

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Reads faults. Plans the topology, because they name its links and chips.
FaultsConfig read_faults(input::ObjectReader reader, TopologyConfig& topology,
                         const hardware::Chip& chip);
/// Faults as configuration JSON, with all defaults filled in.
input::Json faults_json(const FaultsConfig& faults);

/// Schema of "faults", with annotations.
input::Json faults_schema();

}  // namespace equarx::config
