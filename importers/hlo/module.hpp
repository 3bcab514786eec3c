// Data model of an HLO module.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/hlo/shape.hpp"

namespace equarx::hlo {

/// Index into Computation::instructions.
using InstructionId = std::uint32_t;
/// Index into Module::computations.
using ComputationId = std::uint32_t;

/// Operand whose name is not an instruction of the computation.
inline constexpr InstructionId kNoInstruction = std::numeric_limits<InstructionId>::max();

/// One instruction. Its texts are in the ModuleText.
struct Instruction {
  std::string_view name;    ///< without "%"
  Shape shape;              ///< shape of the result
  std::string_view opcode;  ///< "all-reduce-start"
  std::vector<InstructionId> operands;
  std::string_view payload;  ///< contents of the parentheses of a parameter or constant
  /// Attributes: "channel_id" and "1"; values are raw text without quotes.
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::vector<ComputationId> called;  ///< computations named by attributes, in textual order
  std::uint32_t line = 0;             ///< line of the text, from 1

  /// Returns the value of an attribute; empty if absent.
  std::string_view attribute(std::string_view key) const;
};

/// A sequence of instructions, each after its operands. If the module is scheduled, it is the
/// execution order.
struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  InstructionId root = 0;  ///< instruction that produces the result
};

/// Number of occurrences of each kind of skipped text: "attribute without a value" 3.
using Skipped = std::map<std::string, std::uint32_t>;

/// Text of a module, which its instructions refer to.
struct ModuleText {
  std::string text;
  std::deque<std::string> others;  ///< values that are not in the text as they are
};

/// A program.
struct Module {
  std::shared_ptr<const ModuleText> text = nullptr;  ///< null if no instruction refers to it
  std::string name;
  std::uint32_t replicas = 1;    ///< replica_count
  std::uint32_t partitions = 1;  ///< num_partitions
  bool has_chip_count = false;   ///< the header has replica_count or num_partitions
  bool is_scheduled = false;     ///< textual order is execution order
  std::vector<Computation> computations;
  ComputationId entry = 0;
  Skipped skipped;

  std::uint64_t devices() const { return std::uint64_t{replicas} * partitions; }
  std::uint64_t instructions() const;
};

/// Returns operand `number` of an instruction; nullptr if out of range or unknown.
const Instruction* operand_of(const Instruction& instruction, std::size_t number,
                              const Computation& computation);

/// Returns the computation named by an attribute such as "body"; std::nullopt if absent.
std::optional<ComputationId> called_by(const Instruction& instruction, std::string_view key,
                                       const Module& module);

/// Returns the value that follows "key": in JSON text: a number, a string without quotes, or a
/// bracketed value. A full parse is unnecessary, as the form of backend configurations differs
/// between compilers.
std::optional<std::string_view> json_value(std::string_view json, std::string_view key);

/// Returns the unsigned integers in a text, in order: "{0,1},{2,3}" has four. Larger numbers
/// saturate at 2^62.
std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace equarx::hlo
