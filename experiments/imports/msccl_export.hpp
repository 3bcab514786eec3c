// A collective of a configuration as a schedule of MSCCL.
#pragma once

#include <string>

#include "experiments/config/config.hpp"

namespace equarx::imports {

/// XML of one of the configuration's collectives, as it would be cut for the configuration's bytes.
/// @param label  of the collective; empty: the first that is not quantized
/// @throws input::InputError for a collective that cannot be written so, which says why
std::string export_msccl(const config::ExperimentConfig& config, const std::string& label);

}  // namespace equarx::imports
