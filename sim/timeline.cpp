#include "sim/timeline.hpp"

#include <stdexcept>

namespace equarx::sim {

using collectives::InstructionId;
using collectives::Op;

std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs) {
  if (costs.core_s.size() != program.instructions.size() ||
      costs.link_s.size() != program.messages.size())
    throw std::logic_error("every instruction and every message needs a cost");
  std::vector<Step> steps;
  steps.reserve(2 * program.messages.size() + 1);
  double delay_s = 0.0;
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const collectives::Instruction& instruction = program.instructions[id];
    if (instruction.op == Op::send || instruction.op == Op::wait) {
      const bool sends = instruction.op == Op::send;
      if (sends) delay_s += costs.core_s[id];
      steps.push_back({.kind = sends ? Step::Kind::send : Step::Kind::wait,
                       .direction = program.messages[instruction.message].direction,
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

}  // namespace equarx::sim
