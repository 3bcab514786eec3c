#include "experiments/plan/costs.hpp"

#include "models/collectives/work.hpp"
#include "models/hardware/cost.hpp"

namespace equarx::plan {
namespace {

using collectives::Op;

double core_time_s(const collectives::Program& program, const collectives::Instruction& instruction,
                   const hardware::Chip& chip) {
  switch (instruction.op) {
    case Op::barrier: return chip.barrier_time.value;
    case Op::send: return chip.dma_overhead.value;
    case Op::wait: return chip.wait_overhead.value;
    case Op::lend:
    case Op::deliver: return 0.0;
    default: break;
  }
  const collectives::Work work = work_of(program, instruction);
  return hardware::vector_time_s(chip, work.alu_operations, work.vmem_bytes, work.hbm_bytes);
}

}  // namespace

sim::Costs program_costs(const collectives::Program& program, const hardware::Chip& chip) {
  sim::Costs costs;
  costs.start_s = chip.collective_startup.value;
  costs.core_s.reserve(program.instructions.size());
  for (const collectives::Instruction& instruction : program.instructions)
    costs.core_s.push_back(core_time_s(program, instruction, chip));
  costs.link_s.reserve(program.messages.size());
  for (const collectives::Message& message : program.messages)
    costs.link_s.push_back(message.synchronises ? chip.step_sync_time.value : 0.0);
  return costs;
}

}  // namespace equarx::plan
