// Cost model of a program's instructions on a chip.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/collectives/work.hpp"
#include "models/hardware/chip.hpp"
#include "sim/recosted_timelines.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// False for instructions without work of their own: fused casts, and data sent from or received
/// in its place.
bool takes_time(const collectives::Program& program, const collectives::Instruction& instruction);

/// Compute time of every instruction and extra link time of every message. With wire buffers in
/// HBM, also the HBM bytes for which instructions compete with DMAs; their transfer time is then
/// not part of the compute time.
sim::Costs program_costs(const collectives::Program& program, const hardware::Chip& chip,
                         collectives::WireBuffers buffers = collectives::WireBuffers::vmem);

/// Everything about an instruction that determines its cost on a chip.
struct CostKind {
  /// Barrier, send or wait, which have parameters of their own; any other is vector work.
  collectives::Op op = collectives::Op::deliver;
  bool takes_time = true;
  collectives::Work work = {};
};

/// The few kinds of instructions of a program whose ranks are alike, which determine its costs on
/// chips without workgroups, with wire buffers in VMEM.
class CostKinds {
 public:
  explicit CostKinds(const collectives::Program& program);

  /// By instruction, the number of its kind.
  const std::vector<std::uint32_t>& of_instructions() const { return numbers_; }
  /// The kind of an instruction.
  const CostKind& of(collectives::InstructionId instruction) const {
    return kinds_[numbers_[instruction]];
  }
  /// The costs of program_costs(), by kind.
  sim::CostsByKind on(const hardware::Chip& chip) const;
  /// Likewise, by instruction and message. `program`: the same, or one with equal instructions
  sim::Costs costs(const collectives::Program& program, const hardware::Chip& chip) const;

 private:
  std::vector<CostKind> kinds_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace equarx::plan
