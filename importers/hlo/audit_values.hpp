// Data flow of a module through renamings, casts, fusions, calls and loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Result of an instruction, or an element of its tuple.
struct Value {
  ComputationId computation = 0;
  InstructionId instruction = 0;
  std::optional<std::size_t> part = std::nullopt;

  bool operator==(const Value&) const = default;
};

/// Uses of a value by instructions that do more than rename, copy, reshape or transpose it.
struct Uses {
  std::vector<Value> users;     ///< results of these instructions
  std::vector<Value> operands;  ///< by user: name of the value as its operand
  bool escapes = false;         ///< also a result of the entry, or carried by a loop
};

/// True if every value of type `narrow` is a value of type `wide`: bf16 and f32, s8 and bf16; also
/// for equal types. False for unknown types.
bool holds(std::string_view narrow, std::string_view wide);

/// Operand and user graph of a module.
class Values {
 public:
  /// `module` must outlive it.
  explicit Values(const Module& module);

  const Instruction& instruction(const Value& value) const {
    return module_.computations[value.computation].instructions[value.instruction];
  }
  /// Shape of a value; of the result for the start of a collective.
  const Shape& shape(const Value& value) const;
  /// Value of an operand of `of`; std::nullopt if unknown.
  std::optional<Value> operand(const Value& of, std::size_t number) const;

  /// The value that `value` renames, copies, reshapes or transposes, also into and out of fusions,
  /// calls and invariant elements of loops; std::nullopt if it is computed.
  std::optional<Value> before(const Value& value) const;
  /// before(), repeated.
  Value source(Value value) const;
  /// Like source(), also through casts.
  Value uncast(Value value) const;
  /// Narrowest type that holds `value`: of its source before widening casts.
  std::string narrowest_type(Value value) const;

  /// Like uncast(), also through factors, rounding and limits of a quantization.
  Value unscaled(Value value) const;

  Uses uses(const Value& value) const;
  /// Narrower types that all uses of a value are cast to, if they do nothing else with it. With
  /// `may_scale`, factors may be applied and elements rounded in between. Sets `scales` if so.
  std::optional<std::string> cast_type(const Value& value, bool may_scale, bool* scales) const;

  /// True if `value` is computed from a value for which `is_source` holds. Loops count as computed
  /// from their operands and bodies are not entered.
  template <typename IsSource>
  bool depends_on(const Value& value, IsSource is_source) const;

  /// Instruction that calls a computation; std::nullopt if there are none or several.
  std::optional<Value> caller(ComputationId computation) const;

  const std::vector<InstructionId>& users_of(ComputationId computation, InstructionId id) const {
    return users_[computation][id];
  }

 private:
  struct Caller {
    ComputationId computation = 0;
    InstructionId instruction = 0;
    std::uint32_t count = 0;  ///< number of callers; the others are of the last
  };

  std::optional<Value> before_parameter(const Value& value) const;
  std::optional<Value> before_nested(const Value& value) const;
  bool is_invariant(ComputationId body, std::size_t part) const;
  std::optional<Value> root(ComputationId computation, std::optional<std::size_t> part) const;
  /// Adds names of `value` made by a user to `names`. Returns false if the user computes with it.
  bool renames(const Value& value, InstructionId user, std::vector<Value>& names,
               bool& escapes) const;
  bool is_scaling(const Value& user, const Value& name) const;
  void leave(const Value& value, std::vector<Value>& names, bool& escapes) const;

  const Module& module_;
  std::vector<std::vector<std::vector<InstructionId>>> users_;  // by computation and instruction
  std::vector<Caller> callers_;                                 // by computation
};

template <typename IsSource>
bool Values::depends_on(const Value& value, IsSource is_source) const {
  std::vector<Value> pending = {value};
  std::set<std::tuple<ComputationId, InstructionId, std::optional<std::size_t>>> seen;
  while (!pending.empty()) {
    const Value at = pending.back();
    pending.pop_back();
    if (!seen.emplace(at.computation, at.instruction, at.part).second) continue;
    if (is_source(at)) return true;
    if (const std::optional<Value> name = before(at)) {
      pending.push_back(*name);
      continue;
    }
    for (std::size_t i = 0; i < instruction(at).operands.size(); ++i)
      if (const std::optional<Value> from = operand(at, i)) pending.push_back(*from);
  }
  return false;
}

}  // namespace equarx::hlo
