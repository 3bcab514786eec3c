#include "sim/engines/direct/engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/exceptions/exceptions.hpp"
#include "sim/engines/direct/in_order.hpp"
#include "sim/engines/direct/record.hpp"
#include "sim/engines/direct/run_ahead.hpp"

namespace equarx::sim {
namespace {

/// SimGrid aborts on such times as well.
void check_times(const Timelines& timelines) {
  for (const std::vector<Step>& list : timelines.lists)
    if (!std::ranges::all_of(list, [](const Step& step) {
          return std::isfinite(step.delay_s) && std::isfinite(step.overlapped_s) &&
                 std::isfinite(step.least_s);
        }))
      throw std::logic_error("a core time is not a finite number of seconds");
}

/// Returns false on a deadlock.
bool run(Record& record) {
  const bool independent =
      !record.wiring.shares() && record.machine.failures.empty() && record.timelines.streams == 1;
  if (!independent) return run_in_order(record);
  run_ahead(record);
  return std::ranges::all_of(record.progress.lists, &Progress::List::done);
}

}  // namespace

TimeResult simulate_directly(const Timelines& timelines, const Machine& machine,
                             const Describe& describe, const SimulationOptions& options) {
  std::vector<Progress::List> lists(timelines.list_of.size());
  Progress progress;
  progress.streams = timelines.streams;
  progress.lists = lists;
  std::string failure;
  try {
    check_times(timelines);
    Record record(timelines, machine, options, progress);
    if (run(record)) {
      TimeResult result = record.take();
      sort_trace(result.trace);
      return result;
    }
    progress.deadlocked = true;
  } catch (const std::logic_error& error) {
    failure = error.what();
  }
  throw exceptions::InvariantError(explain(describe, machine, progress, failure));
}

}  // namespace equarx::sim
