#include "sim/one_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace equarx::sim {
namespace {

/// The next tasks of all streams.
class Heads {
 public:
  explicit Heads(const StepProgram& work)
      : streams_(work.streams), next_(work.streams.size()), done_(work.tasks) {}

  /// The task that can start, null if none or several can. It then counts as done.
  const TaskRun* take_only() {
    const TaskRun* ready = nullptr;
    std::size_t of = 0;
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      if (next_[stream] == streams_[stream].size()) continue;
      const TaskRun& head = streams_[stream][next_[stream]];
      if (!std::ranges::all_of(head.after, [&](std::uint32_t task) { return done_.at(task); }))
        continue;
      if (ready != nullptr) return nullptr;
      ready = &head;
      of = stream;
    }
    if (ready == nullptr) return nullptr;
    ++next_[of];
    done_.at(ready->task) = true;
    return ready;
  }

 private:
  const std::vector<std::vector<TaskRun>>& streams_;
  std::vector<std::size_t> next_;  ///< by stream
  std::vector<bool> done_;         ///< by task
};

/// True if the direct engine needs no events for one stream per chip, nor passes over periods.
bool runs_ahead(const Machine& machine, const SimulationOptions& options) {
  return options.engine == Engine::direct && !options.traced && !options.jumps &&
         machine.failures.empty() && !shares_links(machine);
}

}  // namespace

std::optional<StepProgram> in_one_stream(const StepProgram& work) {
  if (work.streams.size() < 2 || !work.chip_sets.empty()) return std::nullopt;
  std::size_t runs = 0;
  for (const std::vector<TaskRun>& stream : work.streams) runs += stream.size();
  StepProgram one{.programs = work.programs, .streams = {{}}, .tasks = work.tasks};
  for (Heads heads(work); one.streams.front().size() < runs;) {
    const TaskRun* const next = heads.take_only();
    if (next == nullptr || next->part != ProgramPart::all) return std::nullopt;
    one.streams.front().push_back(*next);
    one.streams.front().back().after.clear();
  }
  return one;
}

TimeResult simulate(const StepProgram& work, const Machine& machine, const Describe& describe,
                    const SimulationOptions& options) {
  if (runs_ahead(machine, options))
    if (const std::optional<StepProgram> one = in_one_stream(work))
      return simulate(make_timelines(*one, machine.ranks()), machine, describe, options);
  return simulate(make_timelines(work, machine.ranks()), machine, describe, options);
}

}  // namespace equarx::sim
