#include "experiments/plan/activity.hpp"

#include <algorithm>

#include "experiments/plan/costs.hpp"
#include "experiments/plan/machine.hpp"

namespace equarx::plan {
namespace {

/// Ranks that execute an instruction.
double ranks_of(const collectives::Program& program, const collectives::Instruction& instruction) {
  const collectives::Rank last = std::min(instruction.ranks.last, program.ranks() - 1);
  return instruction.ranks.first > last ? 0.0
                                        : static_cast<double>(last - instruction.ranks.first) + 1.0;
}

/// True if a DMA reads the rank's tensor or writes its result in HBM, without work of the core.
bool is_in_place(const collectives::Instruction& instruction) {
  return instruction.op == collectives::Op::deliver ||
         (instruction.op == collectives::Op::lend &&
          instruction.operand == collectives::Operand::input);
}

void add_in_place(const collectives::Program& program, const collectives::Instruction& instruction,
                  collectives::Rank rank, double ranks, hardware::Activity& activity) {
  const collectives::Rank writer = program.written(instruction, rank).writer;
  activity.hbm_bytes +=
      ranks * static_cast<double>(program.buffer_bytes(instruction.buffer, writer));
}

/// Adds the work of `ranks` ranks that do what `rank` does. `shared`: wire buffers are in HBM, whose
/// bytes the machine counts.
void add_work(const collectives::Program& program, const collectives::Instruction& instruction,
              bool shared, collectives::Rank rank, double ranks, hardware::Activity& activity) {
  if (is_in_place(instruction) && !shared)
    add_in_place(program, instruction, rank, ranks, activity);
  if (!collectives::is_vector_work(instruction.op) || !takes_time(program, instruction)) return;
  const collectives::Work work =
      work_of(program, instruction,
              shared ? collectives::WireBuffers::hbm : collectives::WireBuffers::vmem, rank);
  activity.vector_ops += ranks * work.alu_operations;
  activity.vmem_bytes += ranks * work.vmem_bytes;
  if (!shared) activity.hbm_bytes += ranks * work.hbm_bytes;
}

}  // namespace

hardware::Activity vector_activity(const collectives::Program& program,
                                   collectives::WireBuffers buffers) {
  const bool shared = buffers == collectives::WireBuffers::hbm;
  hardware::Activity activity;
  for (const collectives::Instruction& instruction : program.instructions) {
    if (!program.counts) {
      add_work(program, instruction, shared, 0, ranks_of(program, instruction), activity);
      continue;
    }
    for (collectives::Rank rank = 0; rank < program.ranks(); ++rank)
      if (program.runs(instruction, rank))
        add_work(program, instruction, shared, rank, 1.0, activity);
  }
  return activity;
}

hardware::Activity vector_activity(const collectives::Program& program, const CostKinds& kinds) {
  hardware::Activity activity;
  for (collectives::InstructionId id = 0; id < program.instructions.size(); ++id) {
    const collectives::Instruction& instruction = program.instructions[id];
    const double ranks = ranks_of(program, instruction);
    if (is_in_place(instruction)) add_in_place(program, instruction, 0, ranks, activity);
    const collectives::Work& work = kinds.of(id).work;  // none of other than vector work
    activity.vector_ops += ranks * work.alu_operations;
    activity.vmem_bytes += ranks * work.vmem_bytes;
    activity.hbm_bytes += ranks * work.hbm_bytes;
  }
  return activity;
}

hardware::Activity traffic_activity(const sim::Machine& machine,
                                    const std::vector<std::uint64_t>& link_bytes) {
  hardware::Activity activity;
  for (sim::LinkIndex link = 0; link < link_bytes.size(); ++link) {
    const auto bytes = static_cast<double>(link_bytes[link]);
    const bool is_hbm = link >= machine.cables();
    const bool enters_network = machine.links[link].to == kNetwork;
    if (is_hbm)
      activity.hbm_bytes += bytes;
    else if (enters_network)
      activity.network_bytes += bytes;
    else if (machine.links[link].from != kNetwork)
      activity.link_bytes += bytes;
  }
  return activity;
}

hardware::Activity collective_activity(const CollectivePlan& plan, const hardware::Chip& chip,
                                       collectives::WireBuffers buffers, double time_s) {
  const sim::Machine& machine = plan.simulated.machine();
  const double ranks = plan.program.ranks();
  hardware::Activity activity = plan.kinds ? vector_activity(plan.program, *plan.kinds)
                                           : vector_activity(plan.program, buffers);
  activity += traffic_activity(machine, sim::link_bytes(plan.program, machine, plan.costs))
                  .scaled(ranks / machine.ranks());
  activity.time_s = ranks * time_s;
  activity.busy_s = activity.hbm_bytes / chip.hbm_rate();
  return activity;
}

hardware::Expenses collective_expenses(const CollectivePlan& plan,
                                       const config::ExperimentConfig& config, double time_s) {
  return hardware::expenses_of(config.chip,
                               collective_activity(plan, config.chip, config.wire_buffers, time_s));
}

}  // namespace equarx::plan
