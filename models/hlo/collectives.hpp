// What a collective of HLO does: its kind, how much, and over which chips.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hlo/module.hpp"
#include "models/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// What chips of a group do with their values.
enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  permute,  ///< each sends to one other
};

/// "all-reduce", as HLO's opcodes are.
std::string_view name(CollectiveKind kind);

/// A collective as it stands in a module.
struct CollectiveSite {
  std::string name;  ///< of the instruction that begins it
  std::string
      op_name;  ///< of the user's program, of its metadata: "jit(step)/dot_general"; may be empty
  std::string computation;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string type;      ///< of its elements; of several operands that of the most bytes
  double bytes = 0.0;    ///< what each chip brings; after an all-gather, what it has
  bool adds = false;     ///< it sums: not where it takes the largest, or the logical or
  std::string combines;  ///< the opcode that it combines by: "add"; empty of one that does not
  DeviceGroups groups;   ///< of chips; empty if they cannot be read
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  ///< of a permute: from and to
  bool is_ragged = false;  ///< ragged-all-to-all: `bytes` are the most that it may send
  bool waits = false;      ///< it is begun and waited for at once
  std::uint32_t line = 0;
};

/// The kind of an opcode without "-start"; none if it is no collective.
std::optional<CollectiveKind> collective_kind(std::string_view opcode);

/// Describes the collective of an instruction: it is one, or begins one, or calls computations of which one has one
/// (async-start, a fusion). None if there is none. All-reduces whose result is only sliced within the same fusion are
/// reduce-scatters, which is how XLA writes those of a TPU.
std::optional<CollectiveSite> collective_of(const Instruction& instruction,
                                            const Computation& computation, const Module& module);

/// "jit(step)/dot_general" of metadata={op_name="jit(step)/dot_general" ...}.
std::string_view op_name(const Instruction& instruction);

}  // namespace equarx::hlo
