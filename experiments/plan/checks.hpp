// Whether what is asked for fits: the tensor in the chips, the program and its values in this computer.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "experiments/plan/obstacle.hpp"
#include "models/collectives/program.hpp"

namespace equarx::plan {

/// All return an obstacle that names what is too large and what would fit, or nothing.

MaybeObstacle check_hbm_capacity(const config::ExperimentConfig& config);

/// Whether the program can be made, before it is.
MaybeObstacle check_program_size(const config::CollectiveConfig& collective,
                                 const collectives::RankGrid& grid,
                                 const config::ExperimentConfig& config, const std::string& place);

/// The buffers of quantized minishards must fit in VMEM.
MaybeObstacle check_vmem(const collectives::Program& program,
                         const config::ExperimentConfig& config, const std::string& place);

/// Transfers are timed by their links alone, so memory must be faster than all links of a chip together; unless
/// they share it with the core.
MaybeObstacle check_hbm_bandwidth(const collectives::Program& program,
                                  const config::ExperimentConfig& config);

/// Whether so many threads can compute the values of a program here.
MaybeObstacle check_host_memory(const collectives::Program& program,
                                const config::ExperimentConfig& config, unsigned threads);

}  // namespace equarx::plan
