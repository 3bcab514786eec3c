#include "sim/engines/direct/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/exceptions/exceptions.hpp"
#include "sim/engines/direct/in_order.hpp"
#include "sim/engines/direct/record.hpp"
#include "sim/engines/direct/run_ahead.hpp"

namespace equarx::sim {
namespace {

using collectives::Rank;

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
bool run(Record& record, const SimulationOptions& options) {
  const bool independent =
      !record.wiring.shares() && record.machine.failures.empty() && record.timelines.streams == 1;
  if (!independent) return InOrder(record, options.jumps).run();
  run_ahead(record, options.threads);
  return std::ranges::all_of(record.progress.lists, &Progress::List::done);
}

/// Simulates one chip of each class; std::nullopt if it fails, which all chips explain.
std::optional<TimeResult> simulate_classes(const Timelines& timelines, const Machine& machine,
                                           const SimulationOptions& options) {
  const ChipClasses& classes = options.by_class->classes;
  const std::uint32_t chips = options.by_class->machine.ranks();
  std::vector<Progress::List> lists(std::size_t{chips} * timelines.streams);
  Progress progress;
  progress.streams = timelines.streams;
  progress.lists = lists;
  const double share = static_cast<double>(chips) / machine.ranks();
  SimulationOptions of_chips = options;
  if (options.watch)
    of_chips.watch = [&](std::uint64_t received) {
      options.watch(static_cast<std::uint64_t>(static_cast<double>(received) / share));
    };
  try {
    check_times(timelines);
    Record record(timelines, options.by_class->machine, classes.firsts, of_chips, progress);
    if (run(record, options)) return record.take(machine, classes);
  } catch (const std::logic_error&) {
    return std::nullopt;
  }
  return std::nullopt;
}

bool may_use_classes(const Machine& machine, const SimulationOptions& options) {
  return options.by_class != nullptr && !options.traced && machine.failures.empty();
}

TimeResult simulate_all(const Timelines& timelines, const Machine& machine,
                        const Describe& describe, const SimulationOptions& options) {
  std::vector<Rank> chips(machine.ranks());
  std::iota(chips.begin(), chips.end(), Rank{0});
  std::vector<Progress::List> lists(timelines.list_of.size());
  Progress progress;
  progress.streams = timelines.streams;
  progress.lists = lists;
  std::string failure;
  try {
    check_times(timelines);
    Record record(timelines, machine, chips, options, progress);
    if (run(record, options)) {
      TimeResult result = record.take();
      sort_trace(result.trace);
      return result;
    }
    progress.deadlocked = true;
  } catch (const UnexpectedMessage& error) {
    progress.active_rank = error.receiver();
    failure = error.what();
  } catch (const std::logic_error& error) {
    failure = error.what();
  }
  throw exceptions::InvariantError(explain(describe, machine, progress, failure));
}

}  // namespace

TimeResult simulate_directly(const Timelines& timelines, const Machine& machine,
                             const Describe& describe, const SimulationOptions& options) {
  if (may_use_classes(machine, options))
    if (auto result = simulate_classes(timelines, machine, options)) return *std::move(result);
  return simulate_all(timelines, machine, describe, options);
}

}  // namespace equarx::sim
