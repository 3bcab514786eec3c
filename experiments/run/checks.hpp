// Laws that every result obeys; a result that breaks one is a defect of this program, never a result.
#pragma once

#include <cstdint>

#include "experiments/plan/plan.hpp"
#include "models/values/value_executor.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Time is not below its lower bound, in seconds; every message was received, and every byte crossed the links
/// that it was to cross. `runs`: how often the program ran. @throws InvariantError
void check_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, double lower_bound_s,
                std::uint32_t runs);

/// All ranks ended alike, and every byte that was sent was received. `whole`: every element was computed;
/// then the bytes that were encoded are also those that are timed. @throws InvariantError
void check_values(const plan::CollectivePlan& plan, const values::ValueResult& values, bool whole);

}  // namespace equarx::run
