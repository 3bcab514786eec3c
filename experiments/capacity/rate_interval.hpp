// How far the rate of a replica may differ, from the uncertainty of its chip and of its steps.
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/capacity/steady.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::capacity {

/// Machines that are drawn for an interval.
inline constexpr std::uint32_t kIntervalSamples = 50;

/// Central 68 % interval of the rate of the largest steady state on a drawn machine, divided by the
/// nominal one; 0 where even a single sequence misses the limit of TPOT. Draws are those of
/// serve::intervals(). std::nullopt if nothing is uncertain
std::optional<variation::Interval> rate_factors(const Request& request,
                                                const config::PoolConfig& pool,
                                                const serve::PoolMemory& memory,
                                                const serve::StepCosts& costs, unsigned threads);

}  // namespace equarx::capacity
