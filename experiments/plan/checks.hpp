// Feasibility checks: the tensor must fit the chips, the program and its values this computer.
#pragma once

#include <string>

#include "experiments/config/config.hpp"
#include "experiments/plan/infeasible.hpp"
#include "models/collectives/program.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::plan {

/// Every check names the exceeded limit and a size that fits; std::nullopt if everything fits.

Expected<void> check_hbm_capacity(const config::ExperimentConfig& config);

/// Checks the size of the program before it is generated.
Expected<void> check_program_size(const config::CollectiveConfig& collective,
                                  const collectives::RankGrid& grid,
                                  const config::ExperimentConfig& config,
                                  const std::string& pointer);

/// Checks that the buffers of quantized minishards fit in VMEM.
Expected<void> check_vmem(const collectives::Program& program,
                          const config::ExperimentConfig& config, const std::string& pointer);

/// Checks that HBM outpaces all links of a chip together, because transfers are timed by their
/// links alone; skipped if they share HBM with the TensorCore.
Expected<void> check_hbm_bandwidth(const collectives::Program& program,
                                   const config::ExperimentConfig& config);

/// Checks that this computer has the memory to compute the values of a program with so many
/// threads, in addition to those of a baseline. `need`: of the program
Expected<void> check_host_memory(const values::MemoryNeed& need,
                                 const collectives::Program& program,
                                 const config::ExperimentConfig& config, unsigned threads);

/// Likewise, if the configuration asks for values.
Expected<void> check_host_memory(const collectives::Program& program,
                                 const config::ExperimentConfig& config, unsigned threads);

}  // namespace equarx::plan
