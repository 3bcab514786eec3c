// Bytes that a chip sends in a step, by mesh axis.
#pragma once

#include <map>
#include <string>

#include "experiments/config/step.hpp"

namespace equarx::tune_layouts {

/// Bytes of the chip that sends most. A collective counts the least that any algorithm sends: the input
/// of an AllReduce 2 (n - 1) / n times, other tensors (n - 1) / n times. Listed groups and messages
/// between stages count for "pipeline", rings for "context"; collectives over several axes have names
/// like "data+context".
std::map<std::string, double> bytes_by_axis(const config::StepConfig& config);

}  // namespace equarx::tune_layouts
