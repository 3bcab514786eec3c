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

namespace {

void check_costs(const collectives::Program& program, const Costs& costs) {
  const std::size_t instructions = program.instructions.size();
  if (costs.core_s.size() != instructions || costs.link_s.size() != program.messages.size() ||
      (!costs.hbm_bytes.empty() && costs.hbm_bytes.size() != instructions))
    throw std::logic_error("every instruction and every message needs a cost");
}

/// Lowers the instructions of a rank to steps.
class TimelineWriter {
 public:
  TimelineWriter(const collectives::Program& program, const Costs& costs, bool traced)
      : program_(program), costs_(costs), traced_(traced), delay_s_(costs.start_s) {
    steps_.reserve(2 * program.messages.size() + 1);
    if (traced && delay_s_ > 0.0)
      steps_.push_back({.kind = Step::Kind::start, .delay_s = take_delay()});
  }

  void send(InstructionId id) {
    const collectives::MessageId message = program_.instructions[id].message;
    delay_s_ += costs_.core_s[id];
    steps_.push_back({.kind = Step::Kind::send,
                      .number = program_.messages[message].channel,
                      .delay_s = take_delay(),
                      .bytes = program_.message_bytes(message),
                      .link_s = costs_.link_s[message],
                      .message = message,
                      .instruction = id});
  }
  void wait(InstructionId id) {
    const collectives::MessageId message = program_.instructions[id].message;
    steps_.push_back({.kind = Step::Kind::wait,
                      .number = program_.messages[message].channel,
                      .delay_s = take_delay(),
                      .message = message,
                      .instruction = id});
    delay_s_ = costs_.core_s[id];
    if (traced_ && delay_s_ > 0.0)
      steps_.push_back({.kind = Step::Kind::work, .delay_s = take_delay(), .instruction = id});
  }
  void work(InstructionId id) {
    const std::uint64_t hbm_bytes = costs_.hbm_bytes.empty() ? 0 : costs_.hbm_bytes[id];
    const double overlapped_s = hbm_bytes > 0 ? costs_.core_s[id] - costs_.before_hbm_s : 0.0;
    delay_s_ += hbm_bytes > 0 ? costs_.before_hbm_s : costs_.core_s[id];
    if (traced_ || hbm_bytes > 0)
      steps_.push_back({.kind = Step::Kind::work,
                        .delay_s = take_delay(),
                        .instruction = id,
                        .hbm_bytes = hbm_bytes,
                        .overlapped_s = overlapped_s});
  }
  std::vector<Step> end() && {
    steps_.push_back({.kind = Step::Kind::end,
                      .delay_s = take_delay(),
                      .instruction = static_cast<InstructionId>(program_.instructions.size() - 1)});
    return std::move(steps_);
  }

 private:
  double take_delay() { return std::exchange(delay_s_, 0.0); }

  const collectives::Program& program_;
  const Costs& costs_;
  bool traced_;
  double delay_s_;  ///< core time since the last step
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs, Rank rank,
                                bool traced) {
  check_costs(program, costs);
  TimelineWriter writer(program, costs, traced);
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const collectives::Instruction& instruction = program.instructions[id];
    if (!instruction.ranks.contains(rank)) continue;
    switch (instruction.op) {
      case Op::send: writer.send(id); break;
      case Op::wait: writer.wait(id); break;
      default: writer.work(id);
    }
  }
  return std::move(writer).end();
}

namespace {

/// Sequential schedule: runs of the program, each after its core work.
std::vector<Step> in_turn(const std::vector<Step>& run, const Schedule& schedule) {
  std::vector<Step> steps;
  steps.reserve((run.size() + 1) * schedule.compute_s.size());
  const auto compute = [&](double delay_s) {
    if (delay_s > 0.0) steps.push_back({.kind = Step::Kind::compute, .delay_s = delay_s});
  };
  for (std::size_t i = 0; i + 1 < schedule.compute_s.size(); ++i) {
    compute(schedule.compute_s[i]);
    steps.insert(steps.end(), run.begin(), run.end());
    steps.back().kind = Step::Kind::work;  // replaces Kind::end
  }
  compute(schedule.compute_s.back());
  steps.push_back({});
  return steps;
}

// Events of a chip if runs overlap other work.
constexpr std::uint32_t kMayBegin = 0;  ///< one more run
constexpr std::uint32_t kHasEnded = 1;  ///< one more run

/// Stream of the program: each run waits for kMayBegin.
std::vector<Step> on_demand(const std::vector<Step>& run, const Schedule& schedule) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i + 1 < schedule.compute_s.size(); ++i) {
    steps.push_back({.kind = Step::Kind::await, .number = kMayBegin});
    steps.insert(steps.end(), run.begin(), run.end());
    steps.back().kind = Step::Kind::signal;
    steps.back().number = kHasEnded;
  }
  steps.push_back({});
  return steps;
}

/// Stream of the other core work, which starts the runs.
std::vector<Step> demands(const Schedule& schedule) {
  std::vector<Step> steps;
  const std::size_t runs = schedule.compute_s.size() - 1;
  for (std::size_t i = 0; i < runs; ++i) {
    if (i >= schedule.overlap) steps.push_back({.kind = Step::Kind::await, .number = kHasEnded});
    steps.push_back({.kind = Step::Kind::compute, .delay_s = schedule.compute_s[i]});
    steps.push_back({.kind = Step::Kind::signal, .number = kMayBegin});
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(runs, schedule.overlap); ++i)
    steps.push_back({.kind = Step::Kind::await, .number = kHasEnded});
  steps.push_back({.kind = Step::Kind::compute, .delay_s = schedule.compute_s.back()});
  steps.push_back({});
  return steps;
}

}  // namespace

std::vector<Rank> rank_range_starts(const collectives::Program& program) {
  std::set<std::uint64_t> borders = {0};
  for (const collectives::Instruction& instruction : program.instructions)
    for (const std::uint64_t border :
         {std::uint64_t{instruction.ranks.first}, std::uint64_t{instruction.ranks.last} + 1})
      if (border < program.ranks()) borders.insert(border);
  return {borders.begin(), borders.end()};
}

Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks, const Schedule& schedule, bool traced) {
  if (schedule.compute_s.size() < 2)
    throw std::logic_error("a schedule has core time before its first and after its last run");
  const std::vector<Rank> firsts = rank_range_starts(program);
  const bool overlaps = schedule.overlap > 0;
  Timelines timelines;
  timelines.streams = overlaps ? 2 : 1;
  timelines.events = overlaps ? 2 : 0;
  if (overlaps) timelines.lists.push_back(demands(schedule));
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (std::ranges::binary_search(firsts, rank)) {
      const std::vector<Step> run = make_timeline(program, costs, rank, traced);
      timelines.lists.push_back(overlaps ? on_demand(run, schedule) : in_turn(run, schedule));
    }
    timelines.list_of.push_back(static_cast<std::uint32_t>(timelines.lists.size() - 1));
    if (overlaps) timelines.list_of.push_back(0);
  }
  return timelines;
}

}  // namespace equarx::sim
