#include "experiments/plan/costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "experiments/plan/workgroup_costs.hpp"
#include "models/hardware/cost.hpp"

namespace equarx::plan {
namespace {

using collectives::Op;
using collectives::WireBuffers;

/// Resources that an instruction uses on its chip.
struct Cost {
  double core_s = 0.0;
  double shared_hbm_bytes = 0.0;
};

Cost cost_of(const collectives::Program& program, const collectives::Instruction& instruction,
             const hardware::Chip& chip, WireBuffers buffers, collectives::Rank rank) {
  if (program.counts && !program.runs(instruction, rank)) return {};
  switch (instruction.op) {
    case Op::barrier: return {chip.barrier_time.value};
    case Op::send: return {chip.dma_overhead.value};
    case Op::wait: return {chip.wait_overhead.value};
    default: break;
  }
  if (!takes_time(program, instruction)) return {};
  const collectives::Work work = work_of(program, instruction, buffers, rank);
  const bool shared = buffers == WireBuffers::hbm;
  return {hardware::vector_time_s(chip, work.alu_operations, work.vmem_bytes,
                                  shared ? 0.0 : work.hbm_bytes),
          shared ? work.hbm_bytes : 0.0};
}

/// Costs of one rank. Without counts, and copies by workgroups for its neighbours, all ranks have the
/// costs of rank 0, or skip the instruction.
sim::Costs costs_of_rank(const collectives::Program& program, const hardware::Chip& chip,
                         WireBuffers buffers, collectives::Rank rank) {
  sim::Costs costs;
  costs.start_s = chip.collective_startup.value;
  costs.core_s.reserve(program.instructions.size());
  for (const collectives::Instruction& instruction : program.instructions) {
    const Cost cost = cost_of(program, instruction, chip, buffers, rank);
    costs.core_s.push_back(cost.core_s);
    if (buffers == WireBuffers::hbm)
      costs.hbm_bytes.push_back(static_cast<std::uint64_t>(std::llround(cost.shared_hbm_bytes)));
  }
  if (const auto workgroups = hardware::workgroups(chip))
    run_in_workgroups(program, chip, *workgroups, rank, costs);
  if (buffers == WireBuffers::hbm) costs.before_hbm_s = chip.instruction_overhead.value;
  costs.link_s.reserve(program.messages.size());
  for (const collectives::Message& message : program.messages)
    costs.link_s.push_back(message.synchronises ? chip.step_sync_time.value : 0.0);
  return costs;
}

double core_time_s(const sim::Costs& costs) {
  return std::accumulate(costs.core_s.begin(), costs.core_s.end(), 0.0);
}

}  // namespace

bool takes_time(const collectives::Program& program, const collectives::Instruction& instruction) {
  switch (instruction.op) {
    case Op::cast:
    case Op::cast_back: return program.casts != collectives::Casts::fused;
    case Op::lend:
    case Op::switch_reduce:
    case Op::deliver: return false;
    default: return true;
  }
}

sim::Costs program_costs(const collectives::Program& program, const hardware::Chip& chip,
                         WireBuffers buffers) {
  const bool copies_differ = program.graph && hardware::workgroups(chip);
  if (!program.counts && !copies_differ) return costs_of_rank(program, chip, buffers, 0);
  std::vector<sim::Costs> by_rank;
  for (collectives::Rank rank = 0; rank < program.ranks(); ++rank)
    by_rank.push_back(costs_of_rank(program, chip, buffers, rank));
  sim::Costs costs = *std::ranges::max_element(by_rank, {}, core_time_s);
  costs.by_rank = std::move(by_rank);
  return costs;
}

}  // namespace equarx::plan
