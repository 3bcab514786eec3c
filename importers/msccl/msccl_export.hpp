// Exports a collective of a configuration as an MSCCL schedule.
#pragma once

#include <string>

#include "experiments/config/config.hpp"

namespace equarx::imports {

/// Returns the XML of a collective, tiled as for the configured number of bytes.
/// @param label  of the collective; empty: the first unquantized one
/// @throws input::InputError if the collective cannot be exported, with the reason
std::string export_msccl(const config::ExperimentConfig& config, const std::string& label);

}  // namespace equarx::imports
