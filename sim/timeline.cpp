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

std::vector<Rank> rank_range_starts(const collectives::Program& program) {
  std::set<std::uint64_t> borders = {0};
  for (const collectives::Instruction& instruction : program.instructions)
    for (const std::uint64_t border :
         {std::uint64_t{instruction.ranks.first}, std::uint64_t{instruction.ranks.last} + 1})
      if (border < program.ranks()) borders.insert(border);
  return {borders.begin(), borders.end()};
}

Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks, bool traced) {
  const std::vector<Rank> firsts = rank_range_starts(program);
  Timelines timelines;
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (std::ranges::binary_search(firsts, rank)) {
      timelines.lists.push_back(make_timeline(program, costs, rank, traced));
    }
    timelines.list_of.push_back(static_cast<std::uint32_t>(timelines.lists.size() - 1));
  }
  return timelines;
}

}  // namespace equarx::sim
