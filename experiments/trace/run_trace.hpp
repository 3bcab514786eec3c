// The trace of one collective.
#pragma once

#include <cstdint>

#include "experiments/plan/plan.hpp"
#include "experiments/trace/events.hpp"
#include "sim/time_executor.hpp"

namespace equarx::trace {

/// Processes that write_trace() needs: one for each chip that is simulated, and one that has all links.
std::uint32_t trace_processes(const plan::CollectivePlan& plan);

/// Writes the trace of a collective, in processes from `first_process` on; docs/traces.md describes them.
/// `shares_core`: other work goes on beside it. Returns what a reader needs to find its way: label, time,
/// and the processes of the chips and of the links.
input::Json write_trace(TraceEventWriter& writer, const plan::CollectivePlan& plan,
                        const sim::TimeResult& time, bool shares_core, std::uint32_t first_process);

}  // namespace equarx::trace
