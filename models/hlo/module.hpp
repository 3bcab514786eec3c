// A program of XLA as data: what its HLO text says.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hlo/shape.hpp"

namespace equarx::hlo {

/// Index into Computation::instructions.
using InstructionId = std::uint32_t;
/// Index into Module::computations.
using ComputationId = std::uint32_t;

/// Of an operand that no instruction of the computation has the name of.
inline constexpr InstructionId kNoInstruction = std::numeric_limits<InstructionId>::max();

/// One instruction.
struct Instruction {
  std::string name;    ///< without "%"
  Shape shape;         ///< of its result
  std::string opcode;  ///< "all-reduce-start"
  std::vector<InstructionId> operands;
  std::string
      payload;  ///< what stands in its brackets where these are no operands: of a parameter or constant
  /// What follows: "channel_id" and "1", values as they are written, without quotes.
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<ComputationId> called;  ///< by attributes, in the order in which they are written
  std::uint32_t line = 0;             ///< of the text, from 1

  /// The value of an attribute; empty if it is not there.
  std::string_view attribute(std::string_view key) const;
};

/// A list of instructions, in the order in which a chip carries them out if the module is scheduled; each comes behind
/// its operands.
struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  InstructionId root = 0;  ///< whose value it has
};

/// What was read over, and how often: "attribute without a value" 3.
using Skipped = std::map<std::string, std::uint32_t>;

/// A program.
struct Module {
  std::string name;
  std::uint32_t replicas = 1;    ///< replica_count
  std::uint32_t partitions = 1;  ///< num_partitions
  bool is_scheduled = false;     ///< instructions stand in the order in which they run
  std::vector<Computation> computations;
  ComputationId entry = 0;
  Skipped skipped;

  std::uint64_t devices() const { return std::uint64_t{replicas} * partitions; }
  std::uint64_t instructions() const;
};

/// An operand of an instruction of a computation; nullptr if it has none of this number, or none that is there.
const Instruction* operand_of(const Instruction& instruction, std::size_t number,
                              const Computation& computation);

/// The computation that an instruction calls by an attribute, like "body"; none if it does not.
std::optional<ComputationId> called_by(const Instruction& instruction, std::string_view key,
                                       const Module& module);

/// The text that stands behind "key": in a text of JSON, without quotes: a number, a word, or all between brackets.
/// Backend configurations are JSON whose form differs by compiler, so nothing more of them is read.
std::optional<std::string_view> json_value(std::string_view json, std::string_view key);

/// Whole numbers in a text, in their order: "{0,1},{2,3}" has four. Those above 2^62 are that.
std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace equarx::hlo
