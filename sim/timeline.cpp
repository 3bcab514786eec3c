#include "sim/timeline.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace equarx::sim {

using collectives::InstructionId;
using collectives::Op;
using collectives::Rank;

std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs,
                                Rank rank) {
  if (costs.core_s.size() != program.instructions.size() ||
      costs.link_s.size() != program.messages.size())
    throw std::logic_error("every instruction and every message needs a cost");
  std::vector<Step> steps;
  steps.reserve(2 * program.messages.size() + 1);
  double delay_s = 0.0;
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
    } else {
      delay_s += costs.core_s[id];
    }
  }
  steps.push_back({.kind = Step::Kind::end,
                   .delay_s = delay_s,
                   .instruction = static_cast<InstructionId>(program.instructions.size() - 1)});
  return steps;
}

Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks) {
  // Between two neighbouring borders, all ranks are in the same ranges.
  std::set<Rank> borders = {0};
  for (const collectives::Instruction& instruction : program.instructions)
    for (const std::uint64_t border :
         {std::uint64_t{instruction.ranks.first}, std::uint64_t{instruction.ranks.last} + 1})
      if (border < ranks) borders.insert(static_cast<Rank>(border));
  Timelines timelines;
  timelines.list_of_rank.reserve(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (borders.contains(rank)) timelines.lists.push_back(make_timeline(program, costs, rank));
    timelines.list_of_rank.push_back(static_cast<std::uint32_t>(timelines.lists.size() - 1));
  }
  return timelines;
}

}  // namespace equarx::sim
