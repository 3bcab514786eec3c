#include "experiments/step/chip_times.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "sim/step_program.hpp"

namespace equarx::step {
namespace {

using steps::TaskId;
using steps::TaskTime;
using Lists = std::vector<std::vector<std::uint32_t>>;

/// Chips of the group of a chip: those with equal coordinates along all other axes.
std::vector<std::uint32_t> group_along(const steps::Mesh& mesh,
                                       const std::vector<std::size_t>& axes, std::uint32_t chip) {
  std::vector<std::uint32_t> members = {chip};
  std::uint32_t stride = 1;
  for (std::size_t axis = mesh.axes.size(); axis-- > 0;) {
    const std::uint32_t length = mesh.axes[axis].length;
    if (std::ranges::find(axes, axis) != axes.end()) {
      std::vector<std::uint32_t> longer;
      for (const std::uint32_t member : members)
        for (std::uint32_t at = 0; at < length; ++at)
          longer.push_back(member - member / stride % length * stride + at * stride);
      members = std::move(longer);
    }
    stride *= length;
  }
  return members;
}

/// The list that contains a chip; the chip alone if there is none.
std::vector<std::uint32_t> list_of(const Lists& lists, std::uint32_t chip) {
  for (const std::vector<std::uint32_t>& list : lists)
    if (std::ranges::find(list, chip) != list.end()) return list;
  return {chip};
}

/// A chip, and the sender of its message if it receives one.
std::vector<std::uint32_t> with_sender(const Lists& pairs, std::uint32_t chip) {
  for (const std::vector<std::uint32_t>& pair : pairs)
    if (pair[1] == chip && pair[0] != chip) return {chip, pair[0]};
  return {chip};
}

}  // namespace

ChipTimes::ChipTimes(const config::StepConfig& config, const sim::TimeResult& time,
                     const sim::ChipClasses* classes)
    : config_(config),
      time_(time),
      roles_(config.graph, config.mesh.chips()),
      before_(steps::predecessors(config.graph)) {
  std::vector<bool> is_known(config.mesh.chips());
  for (std::uint32_t number = 0; number < config.mesh.chips(); ++number) {
    const std::uint32_t chip = config.mesh.chip(number);
    const collectives::Rank rank = classes == nullptr ? chip : classes->class_of[chip];
    rank_of_chip_.push_back(rank);
    if (!is_known[rank]) chips_.push_back(number);
    is_known[rank] = true;
  }
  for (TaskId id = 0; id < config.graph.tasks.size(); ++id)
    if (const auto* receive = std::get_if<steps::Receive>(&config.graph.tasks[id].work))
      before_[id].push_back(receive->permute);
}

TaskTime ChipTimes::on(std::uint32_t chip, TaskId task) const {
  const std::size_t first = rank_of_chip_[chip] * 2 * config_.graph.tasks.size();
  return {time_.marks_s[first + sim::start_mark(task)], time_.marks_s[first + sim::end_mark(task)]};
}

std::vector<TaskTime> ChipTimes::of_all() const {
  std::vector<TaskTime> times;
  for (TaskId task = 0; task < config_.graph.tasks.size(); ++task) {
    TaskTime& all = times.emplace_back(TaskTime{std::numeric_limits<double>::infinity(), 0.0});
    for (const std::uint32_t chip : chips_) {
      if (!roles_.runs(chip, task)) continue;
      const TaskTime one = on(chip, task);
      all.start_s = std::min(all.start_s, one.start_s);
      all.end_s = std::max(all.end_s, one.end_s);
    }
  }
  return times;
}

ChipTimes::At ChipTimes::last() const {
  At last;
  double end_s = -1.0;
  for (const std::uint32_t chip : chips_)
    for (TaskId task = 0; task < config_.graph.tasks.size(); ++task)
      if (roles_.runs(chip, task) && on(chip, task).end_s > end_s) {
        last = {chip, task};
        end_s = on(chip, task).end_s;
      }
  return last;
}

std::vector<std::uint32_t> ChipTimes::delaying(const At& at) const {
  const steps::StepGraph& graph = config_.graph;
  const auto& work = graph.tasks[at.task].work;
  const auto lists_of = [&](std::uint32_t id) -> const Lists& {
    return graph.chip_lists[id].lists;
  };
  if (const auto* call = std::get_if<steps::CollectiveCall>(&work))
    return call->groups ? list_of(lists_of(call->groups->lists), at.chip)
                        : group_along(config_.mesh, call->axes, at.chip);
  if (const auto* permute = std::get_if<steps::Permute>(&work))
    return permute->waits ? with_sender(lists_of(permute->pairs), at.chip)
                          : std::vector<std::uint32_t>{at.chip};
  if (const auto* receive = std::get_if<steps::Receive>(&work)) {
    const auto& permute = std::get<steps::Permute>(graph.tasks[receive->permute].work);
    return with_sender(lists_of(permute.pairs), at.chip);
  }
  return {at.chip};
}

/// Sets `before`; returns false if the task waits for none.
bool ChipTimes::precede(const At& at, At& before) const {
  double end_s = -1.0;
  for (const std::uint32_t chip : delaying(at))
    for (const TaskId task : before_[at.task]) {
      if (!roles_.runs(chip, task)) continue;
      const double one_s = on(chip, task).end_s;
      const bool is_nearer = one_s == end_s && chip == at.chip && before.chip != at.chip;
      if (one_s <= end_s && !is_nearer) continue;
      before = {chip, task};
      end_s = one_s;
    }
  return end_s >= 0.0;
}

CriticalPath ChipTimes::critical_path() const {
  CriticalPath path;
  At at = last();
  for (;;) {
    path.tasks.push_back(at.task);
    path.end_s.push_back(on(at.chip, at.task).end_s);
    At before;
    if (!precede(at, before)) break;
    at = before;
  }
  std::ranges::reverse(path.tasks);
  std::ranges::reverse(path.end_s);
  return path;
}

}  // namespace equarx::step
