#include "models/collectives/with_arithmetic.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "models/collectives/all_tiles.hpp"
#include "models/collectives/validate.hpp"

namespace equarx::collectives {
namespace {

bool encodes(Op op) { return op == Op::quantize || op == Op::lend; }

bool sums_terms(Op op) {
  return op == Op::accumulate || op == Op::reduce || op == Op::reduce_shards;
}

/// True for an instruction that gives the owner of a shard the sum that it has sent.
bool delivers_own(const Program& program, const Instruction& instruction) {
  return instruction.op == Op::dequantize && instruction.origin == Origin{} &&
         program.buffers[instruction.buffer].tile == instruction.tile;
}

/// Stores the operand that every owner has encoded, in place of the decoded one.
void keep_own_sums(Program& program) {
  std::map<BufferId, Operand> operands;
  for (const Instruction& instruction : program.instructions)
    if (encodes(instruction.op)) operands[instruction.buffer] = instruction.operand;
  for (Instruction& instruction : program.instructions) {
    if (!gathers(instruction.phase) || !delivers_own(program, instruction)) continue;
    instruction.op = Op::store;
    instruction.operand = operands.at(instruction.buffer);
    instruction.buffer = 0;
  }
}

/// Adds the residual after the last term of every tile.
void add_before_rounding(Program& program) {
  if (!sums_at_once(program))
    throw std::invalid_argument("the program rounds or sends partial sums");
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  const auto key = [](const Tile& tile) {
    return Key{tile.segment, tile.minishard, tile.microshard};
  };
  std::map<Key, std::size_t> last;  // by tile: its last term
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (sums_terms(program.instructions[i].op)) last[key(program.instructions[i].tile)] = i;
  std::vector<Instruction> instructions;
  instructions.reserve(program.instructions.size() + last.size());
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    Instruction instruction = program.instructions[i];
    const bool ends = sums_terms(instruction.op) && last.at(key(instruction.tile)) == i;
    const bool finds_scales = ends && std::exchange(instruction.finds_scales, false);
    instructions.push_back(instruction);
    if (!ends) continue;
    instructions.push_back({.op = Op::add_residual,
                            .phase = instruction.phase,
                            .operand = Operand::sums,
                            .finds_scales = finds_scales,
                            .tile = instruction.tile,
                            .stream = instruction.stream});
  }
  program.instructions = std::move(instructions);
}

void add_after_rounding(Program& program) {
  const bool own_only = program.collective == Collective::reduce_scatter;
  std::ranges::copy(on_all_tiles(program, Op::add_residual_after, own_only),
                    std::back_inserter(program.instructions));
}

}  // namespace

bool sums_at_once(const Program& program) {
  return std::ranges::none_of(program.instructions, [](const Instruction& instruction) {
    const bool sends_partial = encodes(instruction.op) && !gathers(instruction.phase) &&
                               instruction.operand != Operand::input;
    return sends_partial || instruction.op == Op::add || instruction.op == Op::switch_reduce;
  });
}

bool rounds_terms(const Program& program, const Instruction& instruction) {
  return instruction.op == Op::reduce_shards && !program.format(instruction.phase).scaled &&
         !program.arithmetic.accumulate;
}

Program with_arithmetic(Program program, const Arithmetic& arithmetic) {
  if (arithmetic == Arithmetic{}) return program;
  const bool changes_program =
      arithmetic.owner == OwnerKeeps::summed || arithmetic.residual != Residual::none;
  if (changes_program && program.cast_from)
    throw std::invalid_argument("the program casts its tensors");
  program.arithmetic = arithmetic;
  if (arithmetic.owner == OwnerKeeps::summed) keep_own_sums(program);
  if (arithmetic.residual == Residual::before) add_before_rounding(program);
  if (arithmetic.residual == Residual::after) add_after_rounding(program);
  validate(program);
  return program;
}

}  // namespace equarx::collectives
