#include "importers/hlo/partitioning.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/contents.hpp"
#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

/// Parts of the array that a sharding divides an instruction into: 4 for "{devices=[4,1]<=[4]}" and
/// for axes of a named mesh, 1 for replicated and maximal shardings.
std::uint64_t tiles_of(const Instruction& instruction) {
  const std::string_view sharding = instruction.attribute("sharding");
  constexpr std::string_view kDevices = "devices=[";
  const std::size_t mesh = sharding.find("mesh[");
  if (mesh != std::string_view::npos) {
    const std::size_t end = std::min(sharding.find(']', mesh), sharding.size());
    const bool uses_axes = sharding.find("[{'", end) != std::string_view::npos ||
                           sharding.find(", {'", end) != std::string_view::npos;
    std::uint64_t tiles = uses_axes ? 1 : 0;
    for (const std::int64_t length : numbers_in(sharding.substr(mesh, end - mesh)))
      tiles *= static_cast<std::uint64_t>(std::clamp<std::int64_t>(length, 1, 1 << 20));
    return std::clamp<std::uint64_t>(tiles, 1, 1 << 24);
  }
  std::uint64_t most = 1;
  for (std::size_t at = sharding.find(kDevices); at != std::string_view::npos;
       at = sharding.find(kDevices, at + 1)) {
    const std::size_t begin = at + kDevices.size();
    std::uint64_t tiles = 1;
    for (const std::int64_t length :
         numbers_in(sharding.substr(begin, sharding.find(']', begin) - begin)))
      tiles *= static_cast<std::uint64_t>(std::clamp<std::int64_t>(length, 1, 1 << 20));
    most = std::max(most, std::min<std::uint64_t>(tiles, 1 << 24));
  }
  return most;
}

bool marks_sharding(const Instruction& instruction) {
  const std::string_view target = instruction.attribute("custom_call_target");
  return target == "Sharding" || target == "SPMDFullToShardShape" ||
         target == "SPMDShardToFullShape" || target.starts_with("xla.sdy.");
}

/// True for instructions that may keep the sharding of a parameter or result.
bool may_keep_sharding(const Instruction& instruction) {
  const OpClass kind = class_of(split(instruction.opcode).base);
  return kind == OpClass::free || kind == OpClass::move || kind == OpClass::nested ||
         kind == OpClass::loop || kind == OpClass::conditional || kind == OpClass::custom ||
         kind == OpClass::other || kind == OpClass::collective;
}

struct Evidence {
  const Instruction* by = nullptr;  ///< of text before partitioning
  std::uint64_t tiles = 1;          ///< most parts of an array
  bool has_compiled = false;        ///< a collective or fusion
};

Evidence evidence_in(const Module& module) {
  Evidence found;
  const Instruction* tiled = nullptr;
  for (const Computation& computation : module.computations)
    for (InstructionId of = 0; of < computation.instructions.size(); ++of) {
      const Instruction& instruction = computation.instructions[of];
      const std::uint64_t tiles = tiles_of(instruction);
      found.tiles = std::max(found.tiles, tiles);
      found.has_compiled =
          found.has_compiled || is_collective(instruction) || instruction.opcode == "fusion";
      const bool divides = tiles > 1 && of != computation.root && !may_keep_sharding(instruction);
      if (found.by == nullptr && (divides || marks_sharding(instruction))) found.by = &instruction;
      if (tiled == nullptr && tiles > 1) tiled = &instruction;
    }
  if (found.by == nullptr && !found.has_compiled) found.by = tiled;
  return found;
}

}  // namespace

void check_partitioned(const Module& module) {
  if (module.is_scheduled) return;
  const Evidence found = evidence_in(module);
  const std::uint64_t chips = std::max(module.devices(), found.tiles);
  if (found.by == nullptr || chips == 1) return;
  const Instruction& by = *found.by;
  const std::string_view target = by.attribute("custom_call_target");
  throw exceptions::UserError(
      fmt::format("line {}", by.line),
      fmt::format("'{}' ({}) shows text before XLA divided the program among {} chips: the work of "
                  "all chips, without their collectives; import the text after partitioning, of "
                  "compiled.as_text() in JAX or the dump's file with after_optimizations in its "
                  "name",
                  by.name,
                  target.empty() ? fmt::format("sharding={}", by.attribute("sharding"))
                                 : fmt::format("custom-call {}", target),
                  chips));
}

}  // namespace equarx::hlo
