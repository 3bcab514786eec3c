// Values of integer scalars in HLO, as functions of the state of a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// `offset` + `slope` x counter. A pred is 0 or 1.
struct Scalar {
  std::int64_t offset = 0;
  std::int64_t slope = 0;  ///< 0 for a constant

  bool is_constant() const { return slope == 0; }
  bool operator==(const Scalar&) const = default;
};

/// std::nullopt if unknown.
using MaybeScalar = std::optional<Scalar>;

/// Values of a parameter: the elements of a tuple, or one for an array.
using Argument = std::vector<MaybeScalar>;

/// Evaluates scalar integer instructions: constants, arithmetic, comparisons, logic, and copies,
/// conversions, bitcasts, tuples, get-tuple-elements, fusions and calls of them. Other values
/// are unknown, as are values beyond +-2^40 or the range of their type, and values that take more
/// than 500 instructions.
class ScalarEvaluator {
 public:
  /// @param module, computation  must outlive it
  /// @param arguments  values of the parameters; absent ones are unknown
  ScalarEvaluator(const Module& module, const Computation& computation,
                  std::vector<Argument> arguments)
      : module_(module), computation_(computation), arguments_(std::move(arguments)) {}

  /// Value of an array instruction; element 0 of a tuple.
  MaybeScalar value(InstructionId of) { return element(of, 0); }
  /// Value of an element of a tuple instruction.
  MaybeScalar element(InstructionId of, std::size_t number);

  /// A comparison of values that may depend on the counter.
  struct Comparison {
    Scalar difference;  ///< left minus right
    std::string_view direction;
  };
  /// Finds the comparison that decides a pred instruction, through copies and fusions.
  std::optional<Comparison> comparison(InstructionId of);

 private:
  const Instruction& at(InstructionId of) const { return computation_.instructions[of]; }
  MaybeScalar operand(const Instruction& instruction, std::size_t number);
  MaybeScalar computed(const Instruction& instruction);
  std::optional<ScalarEvaluator> callee(const Instruction& instruction);

  const Module& module_;
  const Computation& computation_;
  std::vector<Argument> arguments_;
  int steps_ = 0;  ///< instructions evaluated so far
};

}  // namespace equarx::hlo
