// Invariants of every result. A violation is a defect of this program and is never a result.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "models/values/value_executor.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Checks that the time is not below `lower_bound_s`, that every message was received, and that
/// every link carried exactly the bytes routed over it. `link_bytes`: sim::link_bytes() of the plan
/// @throws InvariantError
void check_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, double lower_bound_s,
                const std::vector<std::uint64_t>& link_bytes);

/// Checks that all ranks end with the same bits and that every sent byte was received. If `whole`
/// (every element was computed), also that the encoded bytes equal the timed bytes.
/// @throws InvariantError
void check_values(const plan::CollectivePlan& plan, const values::ValueResult& values, bool whole);

}  // namespace equarx::run
