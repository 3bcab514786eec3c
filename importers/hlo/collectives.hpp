// Collectives of HLO: kind, size and groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/hlo/module.hpp"
#include "importers/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// Kind of a collective.
enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  permute,  ///< each chip sends to at most one other
};

/// HLO opcode, "all-reduce".
std::string_view name(CollectiveKind kind);

/// A collective instruction of a module.
struct CollectiveOp {
  /// Name of the instruction that starts it; "fusion/name" for one of several in a fusion.
  std::string name;
  /// Op_name of its metadata, from the user's program: "jit(step)/dot_general"; may be empty.
  std::string op_name;
  std::string computation;  ///< name of the computation of `name`
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string type;      ///< element type; with several operands, the type with the most bytes
  double bytes = 0.0;    ///< input per chip; result per chip for an all-gather
  bool adds = false;     ///< true for sums, not for a maximum or a logical or
  std::string combines;  ///< reduction opcode: "add"; empty for kinds that do not reduce
  DeviceGroups groups;   ///< groups of chips; empty if there is a `problem`
  std::string problem;   ///< why its groups or pairs cannot be used: "unreadable ..."
  /// (source, target) pairs of a permute.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  bool is_ragged = false;  ///< ragged-all-to-all: `bytes` is an upper bound
  bool waits = false;      ///< blocking: starts and completes at the same instruction
  std::uint32_t line = 0;
  /// The collective instruction itself, which may lie within the fusion that `name` names.
  ComputationId computation_id = 0;
  InstructionId instruction_id = 0;
};

/// Kind of an opcode without "-start"; std::nullopt if it is not a collective.
std::optional<CollectiveKind> collective_kind(std::string_view opcode);

/// Describes the collective at an instruction (is_collective()). `is_within`: it runs within a fusion
/// or an asynchronous computation; an all-reduce whose result is only sliced there is a
/// reduce-scatter, as XLA compiles those for TPUs.
CollectiveOp collective_op(const Module& module, ComputationId in, InstructionId of,
                           bool is_within = false);

/// Returns op_name of metadata={op_name="jit(step)/dot_general" ...}.
std::string_view op_name(const Instruction& instruction);

}  // namespace equarx::hlo
