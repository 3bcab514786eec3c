// The trace of one collective.
#pragma once

#include <cstdint>

#include "experiments/plan.hpp"
#include "experiments/trace_events.hpp"
#include "sim/time_executor.hpp"

namespace equarx::experiments {

/// Processes that write_trace() needs: one for each chip that is simulated, and one that has all links.
std::uint32_t trace_processes(const CollectivePlan& plan);

/// Writes the trace of a collective, in processes from `first_process` on; docs/traces.md describes them.
/// `shares_core`: other work goes on beside it. Returns what a reader needs to find its way: label, time,
/// and the processes of the chips and of the links.
Json write_trace(TraceEventWriter& writer, const CollectivePlan& plan, const sim::TimeResult& time,
                 bool shares_core, std::uint32_t first_process);

}  // namespace equarx::experiments
