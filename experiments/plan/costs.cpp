#include "experiments/plan/costs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
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

CostKind kind_of(const collectives::Program& program, const collectives::Instruction& instruction,
                 WireBuffers buffers, collectives::Rank rank) {
  if (program.counts && !program.runs(instruction, rank)) return {.takes_time = false};
  switch (instruction.op) {
    case Op::barrier:
    case Op::send:
    case Op::wait: return {.op = instruction.op};
    default: break;
  }
  if (!takes_time(program, instruction)) return {.takes_time = false};
  return {.work = work_of(program, instruction, buffers, rank)};
}

Cost cost_of(const CostKind& kind, const hardware::Chip& chip, WireBuffers buffers) {
  switch (kind.op) {
    case Op::barrier: return {chip.barrier_time.value};
    case Op::send: return {chip.dma_overhead.value};
    case Op::wait: return {chip.wait_overhead.value};
    default: break;
  }
  if (!kind.takes_time) return {};
  const bool shared = buffers == WireBuffers::hbm;
  return {hardware::vector_time_s(chip, kind.work.alu_operations, kind.work.vmem_bytes,
                                  shared ? 0.0 : kind.work.hbm_bytes),
          shared ? kind.work.hbm_bytes : 0.0};
}

/// Costs of one rank. Without counts, and copies by workgroups for its neighbours, all ranks have the
/// costs of rank 0, or skip the instruction.
sim::Costs costs_of_rank(const collectives::Program& program, const hardware::Chip& chip,
                         WireBuffers buffers, collectives::Rank rank) {
  sim::Costs costs;
  costs.start_s = chip.collective_startup.value;
  costs.core_s.reserve(program.instructions.size());
  for (const collectives::Instruction& instruction : program.instructions) {
    const Cost cost = cost_of(kind_of(program, instruction, buffers, rank), chip, buffers);
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

CostKinds::CostKinds(const collectives::Program& program) {
  using Key = std::tuple<Op, bool, double, double, double>;
  std::map<Key, std::uint32_t> known;
  for (const collectives::Instruction& instruction : program.instructions) {
    const CostKind kind = kind_of(program, instruction, WireBuffers::vmem, 0);
    const collectives::Work& work = kind.work;
    const Key key{kind.op, kind.takes_time, work.alu_operations, work.vmem_bytes, work.hbm_bytes};
    const auto [found, is_new] = known.emplace(key, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back(kind);
    numbers_.push_back(found->second);
  }
}

sim::CostsByKind CostKinds::on(const hardware::Chip& chip) const {
  sim::CostsByKind costs{
      .core_s = {}, .start_s = chip.collective_startup.value, .link_s = chip.step_sync_time.value};
  for (const CostKind& kind : kinds_)
    costs.core_s.push_back(cost_of(kind, chip, WireBuffers::vmem).core_s);
  return costs;
}

sim::Costs CostKinds::costs(const collectives::Program& program, const hardware::Chip& chip) const {
  const sim::CostsByKind by_kind = on(chip);
  sim::Costs costs;
  costs.start_s = by_kind.start_s;
  costs.core_s.reserve(numbers_.size());
  for (const std::uint32_t number : numbers_) costs.core_s.push_back(by_kind.core_s[number]);
  costs.link_s.reserve(program.messages.size());
  for (const collectives::Message& message : program.messages)
    costs.link_s.push_back(message.synchronises ? by_kind.link_s : 0.0);
  return costs;
}

}  // namespace equarx::plan
