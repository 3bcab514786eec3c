// Where the time of a run went, as a file for Perfetto, chrome://tracing and `plot.py gantt`.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "experiments/config/config.hpp"
#include "experiments/input/json_value.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/observer.hpp"
#include "experiments/trace/events.hpp"
#include "sim/time_executor.hpp"

namespace equarx::trace {

/// A file with more makes about 1 GB, and no viewer opens it.
inline constexpr std::uint64_t kMostTraceEvents = 5'000'000;

/// How many events the trace of a collective has at most, if it runs as `schedule` says.
std::uint64_t most_trace_events(const plan::CollectivePlan& plan, const sim::Schedule& schedule);

/// Collects the traces of an experiment in one file; docs/traces.md describes it. Every collective is a
/// group of processes: one for each chip that was simulated, with a track for its core and others for its
/// DMAs, and one that has all links.
class TraceFile : public run::RunObserver {
 public:
  /// `label`: of the only collective to trace; empty: all. The configuration and `out` must outlive it.
  /// @throws InputError if there is no such collective.
  TraceFile(std::ostream& out, const config::ExperimentConfig& config, std::string label);

  bool wants(const plan::CollectivePlan& plan) const override;

  /// @throws InputError if the traces of those among `plans` that are wanted would be too large.
  void check_size(std::span<const plan::CollectivePlan* const> plans,
                  const sim::Schedule& schedule) const override;

  /// Adds the trace of a collective that ran as `schedule` says.
  void add(const plan::CollectivePlan& plan, const sim::Schedule& schedule,
           const sim::TimeResult& time) override;

  /// Ends the file.
  void finish();

 private:
  const config::ExperimentConfig& config_;
  std::string label_;
  TraceEventWriter writer_;
  input::JsonValue groups_;
  std::uint32_t next_process_ = 1;
};

}  // namespace equarx::trace
