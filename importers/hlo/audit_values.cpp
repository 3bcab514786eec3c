#include "importers/hlo/audit_values.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "importers/hlo/opcodes.hpp"

namespace equarx::hlo {
namespace {

constexpr std::array<std::string_view, 7> kRenamings = {
    "bitcast", "copy", "reshape", "transpose", "opt-barrier", "optimization-barrier", "domain"};
/// Element-wise steps of a quantization before the cast.
constexpr std::array<std::string_view, 5> kScalings = {"multiply", "divide", "clamp",
                                                       "round-nearest-even", "round-nearest-afz"};

template <typename Names>
bool is_one_of(std::string_view opcode, const Names& names) {
  return std::ranges::find(names, opcode) != names.end();
}

std::optional<std::size_t> index_of(const Instruction& instruction, std::string_view key) {
  const std::string_view text =
      key.empty() ? std::string_view(instruction.payload) : instruction.attribute(key);
  const std::vector<std::int64_t> numbers = numbers_in(text);
  return numbers.empty() ? std::nullopt : std::optional(static_cast<std::size_t>(numbers.front()));
}

bool is_slice(std::string_view opcode) { return opcode == "slice" || opcode == "dynamic-slice"; }

/// Exponent and mantissa bits; an integer of n bits has all its digits in the mantissa.
struct Digits {
  int exponent = 0;
  int mantissa = 0;
  bool is_integer = false;
};

std::optional<Digits> digits_of(std::string_view type) {
  if (type == "f64") return Digits{11, 52};
  if (type == "f32") return Digits{8, 23};
  if (type == "bf16") return Digits{8, 7};
  if (type == "f16") return Digits{5, 10};
  constexpr std::array<std::pair<std::string_view, int>, 10> kIntegers = {{{"s4", 3},
                                                                           {"u4", 4},
                                                                           {"s8", 7},
                                                                           {"u8", 8},
                                                                           {"s16", 15},
                                                                           {"u16", 16},
                                                                           {"s32", 31},
                                                                           {"u32", 32},
                                                                           {"s64", 63},
                                                                           {"u64", 64}}};
  for (const auto& [name, bits] : kIntegers)
    if (type == name) return Digits{0, bits, true};
  // "f8e4m3fn", "f4e2m1fn"
  const std::size_t exponent = type.find('e');
  const std::size_t mantissa = type.find('m');
  if (!type.starts_with('f') || exponent + 2 != mantissa || mantissa + 1 >= type.size()) return {};
  return Digits{type[exponent + 1] - '0', type[mantissa + 1] - '0'};
}

/// Shape of the results of a start, whose tuple also has its operands and state, except for copies
/// and all-reduces.
const Shape& results_of(const Instruction& instruction) {
  const SplitOpcode opcode = split(instruction.opcode);
  const bool has_operands = opcode.end == AsyncEnd::start && opcode.base != "copy" &&
                            opcode.base != "all-reduce" && instruction.shape.is_tuple &&
                            instruction.shape.parts.size() > 1;
  return has_operands ? instruction.shape.parts[1] : instruction.shape;
}

}  // namespace

bool holds(std::string_view narrow, std::string_view wide) {
  if (narrow == wide) return true;
  const std::optional<Digits> from = digits_of(narrow);
  const std::optional<Digits> to = digits_of(wide);
  if (!from || !to) return false;
  if (from->is_integer)
    return !to->is_integer ? from->mantissa <= to->mantissa + 1
                           : from->mantissa < to->mantissa && wide.starts_with('s');
  return !to->is_integer && from->exponent <= to->exponent && from->mantissa <= to->mantissa;
}

Values::Values(const Module& module)
    : module_(module), users_(module.computations.size()), callers_(module.computations.size()) {
  for (ComputationId id = 0; id < users_.size(); ++id) {
    const std::vector<Instruction>& instructions = module.computations[id].instructions;
    users_[id].resize(instructions.size());
    for (InstructionId of = 0; of < instructions.size(); ++of) {
      for (const InstructionId operand : instructions[of].operands)
        if (operand != kNoInstruction &&
            (users_[id][operand].empty() || users_[id][operand].back() != of))
          users_[id][operand].push_back(of);
      for (const ComputationId called : instructions[of].called)
        callers_[called] = {id, of, callers_[called].count + 1};
    }
  }
}

const Shape& Values::shape(const Value& value) const {
  const Shape& whole = results_of(instruction(value));
  if (!value.part || !whole.is_tuple || *value.part >= whole.parts.size()) return whole;
  return whole.parts[*value.part];
}

std::optional<Value> Values::operand(const Value& of, std::size_t number) const {
  const Instruction& by = instruction(of);
  if (number >= by.operands.size() || by.operands[number] == kNoInstruction) return std::nullopt;
  return Value{of.computation, by.operands[number]};
}

std::optional<Value> Values::root(ComputationId computation,
                                  std::optional<std::size_t> part) const {
  return Value{computation, module_.computations[computation].root, part};
}

bool Values::is_invariant(ComputationId body, std::size_t part) const {
  std::optional<Value> value = root(body, part);
  while (value) {
    const Instruction& by = instruction(*value);
    if (by.opcode == "parameter" && value->computation == body) return value->part == part;
    value = before(*value);
  }
  return false;
}

std::optional<Value> Values::before_parameter(const Value& value) const {
  const Caller& caller = callers_[value.computation];
  if (caller.count != 1) return std::nullopt;
  const Value call{caller.computation, caller.instruction};
  const Instruction& by = instruction(call);
  const std::string_view base = split(by.opcode).base;
  if (base == "while") {
    const bool is_body = called_by(by, "body", module_) == value.computation;
    if (!is_body || !value.part || !is_invariant(value.computation, *value.part))
      return std::nullopt;
    std::optional<Value> from = operand(call, 0);
    if (from) from->part = value.part;
    return from;
  }
  if (base != "fusion" && base != "call" && base != "async") return std::nullopt;
  const std::optional<std::size_t> number = index_of(instruction(value), "");
  std::optional<Value> from = number ? operand(call, *number) : std::nullopt;
  if (from) from->part = value.part;
  return from;
}

std::optional<Value> Values::before_nested(const Value& value) const {
  const Instruction& by = instruction(value);
  const SplitOpcode opcode = split(by.opcode);
  if (opcode.base == "while") {
    const std::optional<ComputationId> body = called_by(by, "body", module_);
    if (!body || !value.part || !is_invariant(*body, *value.part)) return std::nullopt;
    std::optional<Value> from = operand(value, 0);
    if (from) from->part = value.part;
    return from;
  }
  if (opcode.end == AsyncEnd::done || opcode.end == AsyncEnd::update) {
    std::optional<Value> from = operand(value, 0);
    if (from) from->part = value.part;
    return from;
  }
  if (by.called.size() != 1) return std::nullopt;
  return root(by.called.front(), value.part);
}

std::optional<Value> Values::before(const Value& value) const {
  const Instruction& by = instruction(value);
  const std::string_view base = split(by.opcode).base;
  if (base == "parameter") return before_parameter(value);
  if (base == "fusion" || base == "call" || base == "async" || base == "while")
    return before_nested(value);
  if (base == "tuple") return value.part ? operand(value, *value.part) : std::nullopt;
  if (base == "get-tuple-element") {
    std::optional<Value> from = value.part ? std::nullopt : operand(value, 0);
    if (from) from->part = index_of(by, "index");
    return from;
  }
  if (!is_one_of(base, kRenamings)) return std::nullopt;
  std::optional<Value> from = operand(value, 0);
  if (from && base != "copy") from->part = value.part;
  return from;
}

Value Values::source(Value value) const {
  while (const std::optional<Value> from = before(value)) value = *from;
  return value;
}

Value Values::uncast(Value value) const {
  while (true) {
    value = source(value);
    const std::optional<Value> from =
        instruction(value).opcode == "convert" ? operand(value, 0) : std::nullopt;
    if (!from) return value;
    value = *from;
  }
}

Value Values::unscaled(Value value) const {
  while (true) {
    value = uncast(value);
    const std::size_t operands = instruction(value).operands.size();
    std::optional<Value> scaled;
    for (std::size_t i = 0; i < operands && !scaled; ++i)
      if (const std::optional<Value> from = operand(value, i); from && is_scaling(value, *from))
        scaled = from;
    if (!scaled) return value;
    value = *scaled;
  }
}

std::optional<Value> Values::caller(ComputationId computation) const {
  const Caller& caller = callers_[computation];
  if (caller.count != 1) return std::nullopt;
  return Value{caller.computation, caller.instruction};
}

std::string Values::narrowest_type(Value value) const {
  std::string narrowest = shape(value).type;
  while (true) {
    value = source(value);
    const Instruction& by = instruction(value);
    const bool passes = by.opcode == "convert" || by.opcode == "broadcast" || is_slice(by.opcode);
    const std::optional<Value> from = passes ? operand(value, 0) : std::nullopt;
    if (!from || !holds(shape(*from).type, shape(value).type)) return narrowest;
    narrowest = shape(*from).type;
    value = *from;
  }
}

/// The value as a result of its computation.
void Values::leave(const Value& value, std::vector<Value>& names, bool& escapes) const {
  const Caller& caller = callers_[value.computation];
  const Value call{caller.computation, caller.instruction, value.part};
  const std::string_view base =
      caller.count == 1 ? split(instruction(call).opcode).base : std::string_view();
  if (base == "fusion" || base == "call" || base == "async")
    names.push_back(call);
  else
    escapes = true;
}

bool Values::renames(const Value& value, InstructionId user, std::vector<Value>& names,
                     bool& escapes) const {
  const Instruction& by = module_.computations[value.computation].instructions[user];
  const SplitOpcode opcode = split(by.opcode);
  const Value result{value.computation, user};
  if (opcode.base == "get-tuple-element") {
    if (!value.part || index_of(by, "index") == value.part) names.push_back(result);
    return true;
  }
  if (opcode.end == AsyncEnd::done || opcode.end == AsyncEnd::update ||
      is_one_of(opcode.base, kRenamings)) {
    names.push_back({value.computation, user, value.part});
    return true;
  }
  const bool nests = opcode.base == "fusion" || opcode.base == "call" || opcode.base == "async";
  if (opcode.base != "tuple" && !nests) return opcode.base == "while" ? (escapes = true) : false;
  for (std::size_t i = 0; i < by.operands.size(); ++i) {
    if (by.operands[i] != value.instruction) continue;
    if (opcode.base == "tuple") {
      names.push_back({value.computation, user, i});
      continue;
    }
    for (const ComputationId id : by.called) {
      const std::vector<Instruction>& inner = module_.computations[id].instructions;
      for (InstructionId of = 0; of < inner.size(); ++of)
        if (inner[of].opcode == "parameter" && index_of(inner[of], "") == i)
          names.push_back({id, of, value.part});
    }
  }
  return true;
}

Uses Values::uses(const Value& value) const {
  Uses uses;
  std::vector<Value> names = {value};
  std::set<std::tuple<ComputationId, InstructionId, std::optional<std::size_t>>> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value at = names[i];
    if (!seen.emplace(at.computation, at.instruction, at.part).second) continue;
    if (at.instruction == module_.computations[at.computation].root) leave(at, names, uses.escapes);
    for (const InstructionId user : users_[at.computation][at.instruction])
      if (!renames(at, user, names, uses.escapes)) {
        uses.users.push_back({at.computation, user});
        uses.operands.push_back(at);
      }
  }
  return uses;
}

/// True if `user` scales, rounds or clamps `name` by constants and broadcast factors alone.
bool Values::is_scaling(const Value& user, const Value& name) const {
  const Instruction& by = instruction(user);
  if (!is_one_of(by.opcode, kScalings)) return false;
  std::size_t others = 0;
  for (std::size_t i = 0; i < by.operands.size(); ++i) {
    if (by.operands[i] == name.instruction) continue;
    const std::optional<Value> factor = operand(user, i);
    const std::string_view opcode = factor ? instruction(source(*factor)).opcode : by.opcode;
    if (opcode != "broadcast" && opcode != "constant") return false;
    ++others;
  }
  return others + 1 == by.operands.size();
}

std::optional<std::string> Values::cast_type(const Value& value, bool may_scale,
                                             bool* scales) const {
  constexpr std::size_t kMaxVisits = 10'000;
  std::optional<std::string> widest;
  std::vector<Value> pending = {value};
  const std::string type = shape(value).type;
  for (std::size_t visit = 0; !pending.empty(); ++visit) {
    const Uses uses = this->uses(pending.back());
    pending.pop_back();
    if (uses.escapes || uses.users.empty() || visit == kMaxVisits) return std::nullopt;
    for (std::size_t i = 0; i < uses.users.size(); ++i) {
      const Value& user = uses.users[i];
      const std::string_view opcode = instruction(user).opcode;
      const bool is_scaling = may_scale && this->is_scaling(user, uses.operands[i]);
      if (is_scaling || is_slice(opcode)) {
        if (is_scaling && scales != nullptr) *scales = true;
        pending.push_back(user);
        continue;
      }
      const std::string& to = instruction(user).shape.type;
      if (opcode != "convert" || type_bits(to) == 0 || type_bits(to) >= type_bits(type))
        return std::nullopt;
      if (!widest || type_bits(to) > type_bits(*widest)) widest = to;
    }
  }
  return widest;
}

}  // namespace equarx::hlo
