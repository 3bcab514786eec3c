#include "sim/recosted_timelines.hpp"

#include <cstddef>
#include <stdexcept>

namespace equarx::sim {
namespace {

using collectives::Instruction;
using collectives::Op;
using collectives::Program;

Timelines plain_timelines(const Program& program, std::uint32_t ranks) {
  Costs none;
  none.core_s.resize(program.instructions.size());
  none.link_s.resize(program.messages.size());
  return make_timelines(program, none, ranks);
}

}  // namespace

RecostedTimelines::RecostedTimelines(const Program& program, std::span<const std::uint32_t> kinds,
                                     std::uint32_t ranks)
    : timelines_(plain_timelines(program, ranks)) {
  if (timelines_.streams > 1 || timelines_.lists.size() > 1)
    throw std::logic_error("ranks with different instruction streams");
  for (std::size_t id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    if (!program.runs(instruction, 0)) continue;
    // The core time of a wait follows the arrival, all other core time precedes the next action.
    if (instruction.op == Op::wait) ends_.push_back(static_cast<std::uint32_t>(kinds_.size()));
    kinds_.push_back(kinds[id]);
    if (instruction.op == Op::send) ends_.push_back(static_cast<std::uint32_t>(kinds_.size()));
  }
  ends_.push_back(static_cast<std::uint32_t>(kinds_.size()));
  if (ends_.size() != timelines_.lists.front().size())
    throw std::logic_error("steps are not those of transfers");
  const std::vector<Step>& steps = timelines_.lists.front();
  for (std::uint32_t step = 0; step < steps.size(); ++step)
    if (steps[step].kind == Step::Kind::send && program.messages[steps[step].message].synchronises)
      synchronising_.push_back(step);
}

Timelines RecostedTimelines::with(const CostsByKind& costs) const {
  Timelines timelines = timelines_;
  set(costs, timelines);
  return timelines;
}

void RecostedTimelines::set(const CostsByKind& costs, Timelines& timelines) const {
  std::vector<Step>& steps = timelines.lists.front();
  double delay_s = costs.start_s;  // added up in the order of make_timeline()
  std::size_t at = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (; at < ends_[step]; ++at) delay_s += costs.core_s[kinds_[at]];
    steps[step].delay_s = delay_s;
    delay_s = 0.0;
  }
  for (const std::uint32_t step : synchronising_) steps[step].link_s = costs.link_s;
}

std::uint64_t RecostedTimelines::bytes() const {
  return sizeof *this + timelines_.lists.front().capacity() * sizeof(Step) +
         (kinds_.capacity() + ends_.capacity() + synchronising_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace equarx::sim
