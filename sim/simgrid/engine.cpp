#include "sim/simgrid/engine.hpp"

#include <atomic>
#include <functional>
#include <memory>

#include "sim/progress.hpp"
#include "sim/simgrid/child_process.hpp"
#include "sim/simgrid/module.hpp"
#include "sim/simgrid/result_bytes.hpp"

namespace equarx::sim {

TimeResult simulate_on_simgrid(const collectives::Program& program, const Machine& machine,
                               const Costs& costs, const SimulationOptions& options) {
  const SimgridModule& module = load_simgrid();
  const std::size_t chips_bytes = machine.ranks() * sizeof(Progress::Chip);
  const SharedMemory memory(sizeof(Progress) + chips_bytes);
  auto* progress = std::construct_at(static_cast<Progress*>(memory.data()));
  auto* chips = reinterpret_cast<Progress::Chip*>(progress + 1);
  std::uninitialized_value_construct_n(chips, machine.ranks());
  progress->chips = std::span(chips, machine.ranks());

  const auto simulate = [&] {
    TimeResult result;
    module.simulate({program, machine, costs, options, *progress, result});
    return to_bytes(result);
  };
  std::function<void()> look;
  if (options.watch)
    look = [&] {
      options.watch(std::atomic_ref(progress->received).load(std::memory_order_relaxed));
    };
  const ChildOutcome outcome = run_in_child(simulate, look);
  if (!outcome.succeeded)
    throw SimulationError(explain(program, machine, *progress, outcome.failure));
  return from_bytes(outcome.bytes);
}

}  // namespace equarx::sim
