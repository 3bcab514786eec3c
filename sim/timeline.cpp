#include "sim/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

namespace equarx::sim {

using collectives::InstructionId;
using collectives::Op;
using collectives::Rank;

std::uint64_t held_bytes(const Step& send, double rate) {
  if (send.link_s == 0.0) return send.bytes;
  return send.bytes + static_cast<std::uint64_t>(std::llround(send.link_s * rate));
}

std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs, Rank rank,
                                bool traced) {
  if (costs.core_s.size() != program.instructions.size() ||
      costs.link_s.size() != program.messages.size())
    throw std::logic_error("every instruction and every message needs a cost");
  std::vector<Step> steps;
  steps.reserve(2 * program.messages.size() + 1);
  double delay_s = costs.start_s;
  if (traced && delay_s > 0.0)
    steps.push_back({.kind = Step::Kind::start, .delay_s = std::exchange(delay_s, 0.0)});
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const collectives::Instruction& instruction = program.instructions[id];
    if (!instruction.ranks.contains(rank)) continue;
    if (is_transfer(instruction.op)) {
      const bool sends = instruction.op == Op::send;
      if (sends) delay_s += costs.core_s[id];
      steps.push_back({.kind = sends ? Step::Kind::send : Step::Kind::wait,
                       .channel = program.messages[instruction.message].channel,
                       .delay_s = delay_s,
                       .bytes = sends ? program.message_bytes(instruction.message) : 0,
                       .link_s = sends ? costs.link_s[instruction.message] : 0.0,
                       .message = instruction.message,
                       .instruction = id});
      delay_s = sends ? 0.0 : costs.core_s[id];
      if (traced && !sends && delay_s > 0.0) {
        steps.push_back({.kind = Step::Kind::work, .delay_s = delay_s, .instruction = id});
        delay_s = 0.0;
      }
    } else if (traced) {
      steps.push_back({.kind = Step::Kind::work, .delay_s = costs.core_s[id], .instruction = id});
    } else {
      delay_s += costs.core_s[id];
    }
  }
  steps.push_back({.kind = Step::Kind::end,
                   .delay_s = delay_s,
                   .instruction = static_cast<InstructionId>(program.instructions.size() - 1)});
  return steps;
}

namespace {

/// Runs of the program one after the other, each after its core time.
std::vector<Step> in_turn(const std::vector<Step>& run, const Schedule& schedule) {
  std::vector<Step> steps;
  steps.reserve((run.size() + 1) * schedule.compute_s.size());
  const auto compute = [&](double delay_s) {
    if (delay_s > 0.0) steps.push_back({.kind = Step::Kind::compute, .delay_s = delay_s});
  };
  for (std::size_t i = 0; i + 1 < schedule.compute_s.size(); ++i) {
    compute(schedule.compute_s[i]);
    steps.insert(steps.end(), run.begin(), run.end());
    steps.back().kind = Step::Kind::work;  // its end
  }
  compute(schedule.compute_s.back());
  steps.push_back({});
  return steps;
}

/// Runs that each wait until they may begin.
std::vector<Step> on_demand(const std::vector<Step>& run, const Schedule& schedule) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i + 1 < schedule.compute_s.size(); ++i) {
    steps.push_back({.kind = Step::Kind::begin});
    steps.insert(steps.end(), run.begin(), run.end());
    steps.back().kind = Step::Kind::done;
  }
  steps.push_back({});
  return steps;
}

/// The core time between them, for the actor that lets them begin.
std::vector<Step> demands(const Schedule& schedule) {
  std::vector<Step> steps;
  const std::size_t runs = schedule.compute_s.size() - 1;
  for (std::size_t i = 0; i < runs; ++i) {
    if (i >= schedule.overlap) steps.push_back({.kind = Step::Kind::join});
    steps.push_back({.kind = Step::Kind::compute, .delay_s = schedule.compute_s[i]});
    steps.push_back({.kind = Step::Kind::post});
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(runs, schedule.overlap); ++i)
    steps.push_back({.kind = Step::Kind::join});
  steps.push_back({.kind = Step::Kind::compute, .delay_s = schedule.compute_s.back()});
  steps.push_back({});
  return steps;
}

}  // namespace

Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks, const Schedule& schedule, bool traced) {
  if (schedule.compute_s.size() < 2)
    throw std::logic_error("a schedule has core time before its first and after its last run");
  // Between two neighbouring borders, all ranks are in the same ranges.
  std::set<Rank> borders = {0};
  for (const collectives::Instruction& instruction : program.instructions)
    for (const std::uint64_t border :
         {std::uint64_t{instruction.ranks.first}, std::uint64_t{instruction.ranks.last} + 1})
      if (border < ranks) borders.insert(static_cast<Rank>(border));
  Timelines timelines;
  timelines.list_of_rank.reserve(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (borders.contains(rank)) {
      const std::vector<Step> run = make_timeline(program, costs, rank, traced);
      timelines.lists.push_back(schedule.overlap == 0 ? in_turn(run, schedule)
                                                      : on_demand(run, schedule));
    }
    timelines.list_of_rank.push_back(static_cast<std::uint32_t>(timelines.lists.size() - 1));
  }
  if (schedule.overlap > 0) timelines.beside = demands(schedule);
  return timelines;
}

}  // namespace equarx::sim
