// The steady state of a configured replica.
#pragma once

#include "experiments/capacity/estimate.hpp"
#include "experiments/config/serving.hpp"

namespace equarx::capacity {

/// The largest steady state that meets the limit of TPOT and fits into the KV cache.
/// @throws input::InputError if the model does not fit
SteadyState steady(const Request& request, const config::PoolConfig& pool,
                   const serve::StepCosts& costs);

}  // namespace equarx::capacity
