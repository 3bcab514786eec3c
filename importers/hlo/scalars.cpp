#include "importers/hlo/scalars.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace equarx::hlo {
namespace {

constexpr std::int64_t kMaxValue = std::int64_t{1} << 40;
constexpr int kMaxSteps = 500;

/// True if a constant fits the integer type; a value that depends on the counter is checked by the
/// caller for its last value.
bool fits(std::int64_t value, std::string_view type) {
  if (value < -kMaxValue || value > kMaxValue) return false;
  if (type == "pred") return value == 0 || value == 1;
  const std::uint32_t bits = type_bits(type);
  constexpr std::uint32_t kMaxChecked = 32;
  if (bits > kMaxChecked) return type.starts_with("s") || value >= 0;
  const std::int64_t one = 1;
  if (type.starts_with("u")) return value >= 0 && value < one << bits;
  return value >= -(one << (bits - 1)) && value < one << (bits - 1);
}

bool is_integer(std::string_view type) {
  return type == "pred" ||
         ((type.starts_with("s") || type.starts_with("u")) && type_bits(type) > 0);
}

MaybeScalar constant(const Instruction& instruction) {
  std::string_view text = instruction.payload;
  if (text == "true") return Scalar{1};
  if (text == "false") return Scalar{0};
  if (text.starts_with("{") && text.ends_with("}")) text = text.substr(1, text.size() - 2);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = problem == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(Scalar{value}) : std::nullopt;
}

/// True for instructions whose result equals their first operand.
bool passes_on(std::string_view opcode) {
  for (const std::string_view same : {"copy", "bitcast", "convert", "reshape", "broadcast",
                                      "opt-barrier", "copy-done", "optimization-barrier"})
    if (opcode == same) return true;
  return false;
}

MaybeScalar compared(const Scalar& left, const Scalar& right, std::string_view direction) {
  if (!left.is_constant() || !right.is_constant()) return std::nullopt;
  const std::int64_t a = left.offset;
  const std::int64_t b = right.offset;
  if (direction == "LT") return Scalar{a < b};
  if (direction == "LE") return Scalar{a <= b};
  if (direction == "GT") return Scalar{a > b};
  if (direction == "GE") return Scalar{a >= b};
  if (direction == "EQ") return Scalar{a == b};
  return direction == "NE" ? std::optional(Scalar{a != b}) : std::nullopt;
}

MaybeScalar of_constants(std::string_view opcode, std::int64_t a, std::int64_t b) {
  if (opcode == "maximum") return Scalar{std::max(a, b)};
  if (opcode == "minimum") return Scalar{std::min(a, b)};
  if (opcode == "and") return Scalar{a & b};
  if (opcode == "or") return Scalar{a | b};
  if (opcode == "xor") return Scalar{a ^ b};
  if (opcode == "divide" && b != 0) return Scalar{a / b};
  if (opcode == "remainder" && b != 0) return Scalar{a % b};
  return std::nullopt;
}

MaybeScalar combined(std::string_view opcode, const Scalar& a, const Scalar& b) {
  if (opcode == "add") return Scalar{a.offset + b.offset, a.slope + b.slope};
  if (opcode == "subtract") return Scalar{a.offset - b.offset, a.slope - b.slope};
  if (opcode == "multiply") {
    constexpr std::int64_t kMaxFactor = std::int64_t{1} << 22;
    const Scalar& factor = a.is_constant() ? a : b;
    const Scalar& other = a.is_constant() ? b : a;
    if (!factor.is_constant() || factor.offset > kMaxFactor || factor.offset < -kMaxFactor)
      return std::nullopt;
    return Scalar{factor.offset * other.offset, factor.offset * other.slope};
  }
  if (!a.is_constant() || !b.is_constant()) return std::nullopt;
  return of_constants(opcode, a.offset, b.offset);
}

}  // namespace

MaybeScalar ScalarEvaluator::operand(const Instruction& instruction, std::size_t number) {
  if (number >= instruction.operands.size() || instruction.operands[number] == kNoInstruction)
    return std::nullopt;
  return value(instruction.operands[number]);
}

std::optional<ScalarEvaluator> ScalarEvaluator::callee(const Instruction& instruction) {
  if ((instruction.opcode != "fusion" && instruction.opcode != "call") ||
      instruction.called.size() != 1)
    return std::nullopt;
  std::vector<Argument> arguments;
  for (const InstructionId id : instruction.operands) {
    Argument& argument = arguments.emplace_back();
    if (id == kNoInstruction) continue;
    const std::size_t count = at(id).shape.is_tuple ? at(id).shape.parts.size() : 1;
    constexpr std::size_t kMaxElements = 1000;
    for (std::size_t i = 0; i < std::min(count, kMaxElements); ++i)
      argument.push_back(element(id, i));
  }
  ScalarEvaluator made(module_, module_.computations[instruction.called.front()],
                       std::move(arguments));
  made.steps_ = steps_;
  return made;
}

MaybeScalar ScalarEvaluator::element(InstructionId of, std::size_t number) {
  if (++steps_ > kMaxSteps) return std::nullopt;
  const Instruction& instruction = at(of);
  const std::string_view opcode = instruction.opcode;
  if (opcode == "parameter") {
    const std::vector<std::int64_t> index = numbers_in(instruction.payload);
    if (index.empty() || static_cast<std::size_t>(index.front()) >= arguments_.size())
      return std::nullopt;
    const Argument& argument = arguments_[static_cast<std::size_t>(index.front())];
    return number < argument.size() ? argument[number] : std::nullopt;
  }
  if (opcode == "fusion" || opcode == "call") {
    std::optional<ScalarEvaluator> inner = callee(instruction);
    if (!inner) return std::nullopt;
    const MaybeScalar found = inner->element(inner->computation_.root, number);
    steps_ = inner->steps_;
    return found;
  }
  const bool has_operand =
      !instruction.operands.empty() && instruction.operands.front() != kNoInstruction;
  if (instruction.shape.is_tuple) {
    if (opcode == "tuple")
      return number < instruction.operands.size() ? operand(instruction, number) : std::nullopt;
    return passes_on(opcode) && has_operand ? element(instruction.operands.front(), number)
                                            : std::nullopt;
  }
  if (opcode == "get-tuple-element" && has_operand) {
    const std::vector<std::int64_t> index = numbers_in(instruction.attribute("index"));
    return index.empty()
               ? std::nullopt
               : element(instruction.operands.front(), static_cast<std::size_t>(index.front()));
  }
  return computed(instruction);
}

MaybeScalar ScalarEvaluator::computed(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const Shape& shape = instruction.shape;
  if (shape.elements() != 1.0 || !is_integer(shape.type)) return std::nullopt;
  MaybeScalar made;
  if (opcode == "constant") {
    made = constant(instruction);
  } else {
    const MaybeScalar first = operand(instruction, 0);
    if (!first) return std::nullopt;
    if (passes_on(opcode)) {
      const Shape& from = operand_of(instruction, 0, computation_)->shape;
      const bool narrows =
          type_bits(shape.type) < type_bits(from.type) || shape.type.front() != from.type.front();
      if (first->is_constant() || !narrows) made = first;
    } else if (opcode == "negate") {
      made = Scalar{-first->offset, -first->slope};
    } else if (opcode == "not" && shape.type == "pred" && first->is_constant()) {
      made = Scalar{1 - first->offset};
    } else if (opcode == "select" && first->is_constant()) {
      made = operand(instruction, first->offset != 0 ? 1 : 2);
    } else if (const MaybeScalar second = operand(instruction, 1)) {
      made = opcode == "compare" ? compared(*first, *second, instruction.attribute("direction"))
                                 : combined(opcode, *first, *second);
    }
  }
  if (!made) return std::nullopt;
  if (made->is_constant()) return fits(made->offset, shape.type) ? made : std::nullopt;
  constexpr std::int64_t kMaxSlope = std::int64_t{1} << 20;
  const bool is_small = made->slope <= kMaxSlope && made->slope >= -kMaxSlope;
  return is_small && fits(made->offset, "s64") ? made : std::nullopt;
}

std::optional<ScalarEvaluator::Comparison> ScalarEvaluator::comparison(InstructionId of) {
  if (++steps_ > kMaxSteps) return std::nullopt;
  const Instruction& instruction = at(of);
  if (instruction.opcode == "compare") {
    const MaybeScalar left = operand(instruction, 0);
    const MaybeScalar right = operand(instruction, 1);
    if (!left || !right) return std::nullopt;
    return Comparison{{left->offset - right->offset, left->slope - right->slope},
                      instruction.attribute("direction")};
  }
  if (instruction.operands.empty() || instruction.operands.front() == kNoInstruction)
    return std::nullopt;
  if (passes_on(instruction.opcode) && !instruction.shape.is_tuple)
    return comparison(instruction.operands.front());
  std::optional<ScalarEvaluator> inner = callee(instruction);
  return inner ? inner->comparison(inner->computation_.root) : std::nullopt;
}

}  // namespace equarx::hlo
