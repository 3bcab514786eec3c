#include "importers/hlo/passes.hpp"

#include <algorithm>
#include <set>

namespace equarx::hlo {
namespace {

/// Elements that a reduce combines for each of its results; 0 for other instructions.
double row_of(const Instruction& instruction, const Computation& computation) {
  const Instruction* data = operand_of(instruction, 0, computation);
  if (instruction.opcode != "reduce" || data == nullptr) return 0.0;
  const Shape& result = instruction.shape.is_tuple && !instruction.shape.parts.empty()
                            ? instruction.shape.parts.front()
                            : instruction.shape;
  return data->shape.elements() / std::max(result.elements(), 1.0);
}

/// Passes over one parameter whose rows do not fit if they have more than `row` elements.
double passes_over(const Computation& computation, InstructionId parameter,
                   const std::vector<double>& rows, double row) {
  // Pass in which an instruction runs: after the reductions that it depends on.
  std::vector<int> pass(rows.size(), 0);
  std::vector<bool> has_data(rows.size(), false);  // of the parameter, not yet reduced
  has_data[parameter] = true;
  std::set<int> passes;
  for (InstructionId id = 0; id < rows.size(); ++id) {
    for (const InstructionId operand : computation.instructions[id].operands) {
      if (operand == kNoInstruction || operand >= id) continue;
      pass[id] = std::max(pass[id], pass[operand] + (rows[operand] > row ? 1 : 0));
      if (has_data[operand] && rows[operand] <= 0.0) has_data[id] = true;
    }
    if (has_data[id] && id != parameter) passes.insert(pass[id]);
  }
  return std::max(1.0, static_cast<double>(passes.size()));
}

}  // namespace

double reuse_bytes(bool is_gpu) {
  constexpr double kKi = 1024.0;
  constexpr double kSharedMemory = 228.0 * kKi;
  constexpr double kScopedVmem = 16.0 * kKi * kKi;
  return is_gpu ? kSharedMemory : kScopedVmem;
}

std::vector<double> passes_of(const Computation& computation, double on_chip) {
  const std::vector<Instruction>& instructions = computation.instructions;
  std::vector<double> made(instructions.size(), 1.0);
  std::vector<double> rows;
  for (const Instruction& instruction : instructions)
    rows.push_back(row_of(instruction, computation));
  for (InstructionId id = 0; id < instructions.size(); ++id) {
    const Shape& shape = instructions[id].shape;
    if (instructions[id].opcode != "parameter" || shape.is_tuple || shape.elements() <= 0.0)
      continue;
    const double row = on_chip / (shape.bytes() / shape.elements());
    if (shape.bytes() > on_chip && std::ranges::max(rows) > row)
      made[id] = passes_over(computation, id, rows, row);
  }
  return made;
}

}  // namespace equarx::hlo
