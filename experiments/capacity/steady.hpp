// The steady state of a configured replica.
#pragma once

#include "experiments/capacity/estimate.hpp"
#include "experiments/config/serving.hpp"
#include "experiments/serve/serve.hpp"

namespace equarx::capacity {

/// The largest steady state that meets the limit of TPOT and fits into the KV cache. `memory`: of the
/// pool
SteadyState steady(const Request& request, const config::PoolConfig& pool,
                   const serve::PoolMemory& memory, const serve::StepCosts& costs);

}  // namespace equarx::capacity
