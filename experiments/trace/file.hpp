// Trace files of runs, for Perfetto, chrome://tracing and `plot.py gantt`.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "base/input/json_value.hpp"
#include "experiments/config/config.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/observer.hpp"
#include "experiments/trace/events.hpp"
#include "sim/time_executor.hpp"

namespace equarx::trace {

/// Limit of the size of a trace: about 1 GB, more than viewers can open.
inline constexpr std::uint64_t kMostTraceEvents = 5'000'000;

/// Upper bound of the number of events in the trace of a collective.
std::uint64_t most_trace_events(const plan::CollectivePlan& plan);

/// Writes the traces of an experiment into one file (docs/traces.md). Each collective is a group of
/// processes: one per simulated chip, with tracks for its core and its DMAs, and one for all links.
class TraceFile : public run::RunObserver {
 public:
  /// `label`: the only collective to trace; empty: all. The configuration and `out` must outlive
  /// this object. @throws InputError if no collective has this label
  TraceFile(std::ostream& out, const config::ExperimentConfig& config, std::string label);

  bool selects(const plan::CollectivePlan& plan) const override;

  /// @throws InputError if the traces of the selected collectives among `plans` would be too large
  void check_size(std::span<const plan::CollectivePlan* const> plans) const override;

  /// Adds the trace of a collective.
  void add(const plan::CollectivePlan& plan, const sim::TimeResult& time) override;

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
