#include "models/hlo/collectives.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "models/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 7> kKinds = {{
    {"all-reduce", CollectiveKind::all_reduce},
    {"reduce-scatter", CollectiveKind::reduce_scatter},
    {"all-gather", CollectiveKind::all_gather},
    {"all-to-all", CollectiveKind::all_to_all},
    {"ragged-all-to-all", CollectiveKind::all_to_all},
    {"collective-broadcast", CollectiveKind::broadcast},
    {"collective-permute", CollectiveKind::permute},
}};

void add_bytes(const Shape& shape, std::map<std::string, double>& by_type) {
  for (const Shape& part : shape.parts) add_bytes(part, by_type);
  if (!shape.is_tuple) by_type[shape.type] += shape.bytes();
}

/// Bytes of what is brought, by type. A ragged-all-to-all brings its first operand; the others say how it is cut.
std::map<std::string, double> brought(const Instruction& instruction, const Computation& in,
                                      bool is_ragged) {
  std::map<std::string, double> by_type;
  const std::size_t count = is_ragged ? 1 : instruction.operands.size();
  for (std::size_t i = 0; i < std::min(count, instruction.operands.size()); ++i)
    if (instruction.operands[i] != kNoInstruction)
      add_bytes(in.instructions[instruction.operands[i]].shape, by_type);
  return by_type;
}

/// The opcode of the root of the computation that a sum is applied by.
std::string combined_by(const Instruction& instruction, const Module& module) {
  if (instruction.called.empty()) return {};
  const Computation& by = module.computations[instruction.called.front()];
  return by.instructions[by.root].opcode;
}

bool is_only_sliced(InstructionId of, const Computation& in) {
  bool sliced = false;
  for (const Instruction& user : in.instructions) {
    if (std::ranges::find(user.operands, of) == user.operands.end()) continue;
    if (user.opcode != "dynamic-slice") return false;
    sliced = true;
  }
  return sliced;
}

CollectiveSite described(const Instruction& instruction, const Computation& in,
                         const Module& module) {
  const std::string_view opcode = split(instruction.opcode).base;
  CollectiveSite site;
  site.kind = collective_kind(opcode).value();
  site.is_ragged = opcode == "ragged-all-to-all";
  const std::map<std::string, double> by_type = brought(instruction, in, site.is_ragged);
  for (const auto& [type, bytes] : by_type) {
    if (site.type.empty() || bytes > by_type.at(site.type)) site.type = type;
    site.bytes += bytes;
  }
  const bool combines =
      site.kind == CollectiveKind::all_reduce || site.kind == CollectiveKind::reduce_scatter;
  if (combines) site.combines = combined_by(instruction, module);
  site.adds = site.combines == "add";
  if (site.kind == CollectiveKind::permute)
    site.pairs = pairs_of(instruction, module).value_or(decltype(site.pairs){});
  else
    site.groups = groups_of(instruction, module).value_or(DeviceGroups{});
  if (site.kind == CollectiveKind::all_gather && !site.groups.empty())
    site.bytes *= static_cast<double>(site.groups.front().size());
  site.waits = split(instruction.opcode).end == AsyncEnd::none ||
               json_value(instruction.attribute("backend_config"), "is_sync") == "true";
  return site;
}

std::optional<CollectiveSite> collective_within(const Computation& in, const Module& module) {
  for (InstructionId id = 0; id < in.instructions.size(); ++id) {
    const Instruction& instruction = in.instructions[id];
    if (!collective_kind(split(instruction.opcode).base)) continue;
    CollectiveSite site = described(instruction, in, module);
    site.op_name = op_name(instruction);
    if (site.kind == CollectiveKind::all_reduce && is_only_sliced(id, in))
      site.kind = CollectiveKind::reduce_scatter;
    return site;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(CollectiveKind kind) {
  for (const auto& [opcode, of] : kKinds)
    if (of == kind) return opcode;
  throw std::logic_error("unknown collective");
}

std::optional<CollectiveKind> collective_kind(std::string_view opcode) {
  for (const auto& [name, kind] : kKinds)
    if (name == opcode) return kind;
  return std::nullopt;
}

std::string_view op_name(const Instruction& instruction) {
  constexpr std::string_view kKey = "op_name=\"";
  const std::string_view metadata = instruction.attribute("metadata");
  const std::size_t at = metadata.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = metadata.substr(at + kKey.size());
  return rest.substr(0, rest.find('"'));
}

std::optional<CollectiveSite> collective_of(const Instruction& instruction,
                                            const Computation& computation, const Module& module) {
  const SplitOpcode opcode = split(instruction.opcode);
  if (opcode.end == AsyncEnd::done || opcode.end == AsyncEnd::update) return std::nullopt;
  std::optional<CollectiveSite> site;
  if (collective_kind(opcode.base)) {
    site = described(instruction, computation, module);
  } else if (opcode.base == "fusion" || opcode.base == "async") {
    for (const ComputationId id : instruction.called)
      if (!site) site = collective_within(module.computations[id], module);
    if (site) site->waits = opcode.end == AsyncEnd::none;
  }
  if (!site) return std::nullopt;
  site->name = instruction.name;
  site->computation = computation.name;
  site->line = instruction.line;
  if (const std::string_view named = op_name(instruction); !named.empty()) site->op_name = named;
  return site;
}

}  // namespace equarx::hlo
