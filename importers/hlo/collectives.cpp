#include "importers/hlo/collectives.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "importers/hlo/opcodes.hpp"

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

/// Input bytes by type. The data of a ragged-all-to-all is its first operand; the others describe
/// how it is split.
std::map<std::string, double> input_bytes(const Instruction& instruction, const Computation& in,
                                          bool is_ragged) {
  std::map<std::string, double> by_type;
  const std::size_t count = is_ragged ? 1 : instruction.operands.size();
  for (std::size_t i = 0; i < std::min(count, instruction.operands.size()); ++i)
    if (instruction.operands[i] != kNoInstruction)
      add_bytes(in.instructions[instruction.operands[i]].shape, by_type);
  return by_type;
}

/// Opcode of the root of the reduction computation.
std::string reduction_opcode(const Instruction& instruction, const Module& module) {
  if (instruction.called.empty()) return {};
  const Computation& by = module.computations[instruction.called.front()];
  return std::string(by.instructions[by.root].opcode);
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

CollectiveOp described(const Instruction& instruction, const Computation& in,
                       const Module& module) {
  const std::string_view opcode = split(instruction.opcode).base;
  CollectiveOp op;
  op.kind = collective_kind(opcode).value();
  op.is_ragged = opcode == "ragged-all-to-all";
  const std::map<std::string, double> by_type = input_bytes(instruction, in, op.is_ragged);
  for (const auto& [type, bytes] : by_type) {
    if (op.type.empty() || bytes > by_type.at(op.type)) op.type = type;
    op.bytes += bytes;
  }
  const bool combines =
      op.kind == CollectiveKind::all_reduce || op.kind == CollectiveKind::reduce_scatter;
  if (combines) op.combines = reduction_opcode(instruction, module);
  op.adds = op.combines == "add";
  if (op.kind == CollectiveKind::permute)
    op.pairs = pairs_of(instruction, module).value_or(decltype(op.pairs){});
  else
    op.groups = groups_of(instruction, module).value_or(DeviceGroups{});
  if (op.pairs.empty() && op.groups.empty()) op.problem = group_problem(instruction, module);
  if (op.kind == CollectiveKind::all_gather && !op.groups.empty())
    op.bytes *= static_cast<double>(op.groups.front().size());
  op.waits = split(instruction.opcode).end == AsyncEnd::none ||
             json_value(instruction.attribute("backend_config"), "is_sync") == "true";
  return op;
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

CollectiveOp collective_op(const Module& module, ComputationId in, InstructionId of,
                           bool is_within) {
  const Computation& computation = module.computations[in];
  const Instruction& instruction = computation.instructions[of];
  CollectiveOp op = described(instruction, computation, module);
  if (is_within && op.kind == CollectiveKind::all_reduce && is_only_sliced(of, computation))
    op.kind = CollectiveKind::reduce_scatter;
  op.name = instruction.name;
  op.op_name = op_name(instruction);
  op.computation = computation.name;
  op.line = instruction.line;
  op.computation_id = in;
  op.instruction_id = of;
  return op;
}

}  // namespace equarx::hlo
