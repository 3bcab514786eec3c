// Bytes that a chip sends in a step, by mesh axis.
#pragma once

#include <map>
#include <string>

#include "experiments/config/step.hpp"

namespace equarx::tune_layouts {

/// Bytes of the chip that sends most: of collectives what an algorithm sends at least, the input of an
/// AllReduce 2 (n - 1) / n times, of others the whole tensor (n - 1) / n times; of listed groups and
/// messages between stages by "pipeline", of rings by "context". Collectives over several axes are named
/// "data+context".
std::map<std::string, double> bytes_by_axis(const config::StepConfig& config);

}  // namespace equarx::tune_layouts
