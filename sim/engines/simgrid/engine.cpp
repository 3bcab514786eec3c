#include "sim/engines/simgrid/engine.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "base/exceptions/exceptions.hpp"
#include "sim/engines/simgrid/child_process.hpp"
#include "sim/engines/simgrid/module.hpp"
#include "sim/engines/simgrid/result_bytes.hpp"
#include "sim/progress.hpp"

namespace equarx::sim {

bool has_simgrid() { return true; }

TimeResult simulate_on_simgrid(const Timelines& timelines, const Machine& machine,
                               const Describe& describe, const SimulationOptions& options) {
  const SimgridModule& module = load_simgrid();
  const std::size_t count = timelines.list_of.size();
  const SharedMemory memory(sizeof(Progress) + count * sizeof(Progress::List));
  auto* progress = std::construct_at(static_cast<Progress*>(memory.data()));
  auto* lists = reinterpret_cast<Progress::List*>(progress + 1);
  std::uninitialized_value_construct_n(lists, count);
  progress->streams = timelines.streams;
  progress->lists = std::span(lists, count);

  const auto simulate = [&] {
    TimeResult result;
    module.simulate({timelines, machine, options, *progress, result});
    return to_bytes(result);
  };
  std::function<void()> on_poll;
  if (options.watch)
    on_poll = [&] {
      options.watch(std::atomic_ref(progress->received).load(std::memory_order_relaxed));
    };
  const ChildOutcome outcome = run_in_child(simulate, on_poll);
  if (!outcome.succeeded)
    throw exceptions::InvariantError(explain(describe, machine, *progress, outcome.failure));
  return from_bytes(outcome.bytes);
}

}  // namespace equarx::sim
