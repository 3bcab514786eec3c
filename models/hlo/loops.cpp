#include "models/hlo/loops.hpp"

#include <charconv>
#include <string_view>

namespace equarx::hlo {
namespace {

constexpr std::int64_t kLargestCount = std::int64_t{1} << 40;

/// The value of a scalar constant; none of others.
std::optional<std::int64_t> constant(const Instruction* instruction) {
  if (instruction == nullptr || instruction->opcode != "constant") return std::nullopt;
  const std::string_view text = instruction->payload;
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = problem == std::errc() && end == text.data() + text.size();
  if (!is_whole || value < -kLargestCount || value > kLargestCount) return std::nullopt;
  return value;
}

/// Which part of the loop's tuple a get-tuple-element takes.
std::optional<std::size_t> part_taken(const Instruction* instruction) {
  if (instruction == nullptr || instruction->opcode != "get-tuple-element") return std::nullopt;
  const std::vector<std::int64_t> numbers = numbers_in(instruction->attribute("index"));
  return numbers.empty() ? std::nullopt : std::optional(static_cast<std::size_t>(numbers.front()));
}

/// What the condition compares: a part of the tuple, and with what.
struct Bound {
  std::size_t part = 0;
  std::int64_t limit = 0;
};

std::optional<Bound> bound_of(const Computation& condition) {
  const Instruction& root = condition.instructions[condition.root];
  if (root.opcode != "compare" || root.attribute("direction") != "LT") return std::nullopt;
  const std::optional<std::size_t> part = part_taken(operand_of(root, 0, condition));
  const std::optional<std::int64_t> limit = constant(operand_of(root, 1, condition));
  if (!part || !limit) return std::nullopt;
  return Bound{*part, *limit};
}

/// By how much the body raises a part of the tuple; none if it does not by a constant.
std::optional<std::int64_t> step_of(const Computation& body, std::size_t part) {
  const Instruction* next = operand_of(body.instructions[body.root], part, body);
  if (next == nullptr || next->opcode != "add") return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const std::optional<std::int64_t> step = constant(operand_of(*next, side, body));
    if (step && *step > 0 && part_taken(operand_of(*next, 1 - side, body)) == part) return step;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> trip_count(const Module& module, const Computation& computation,
                                        const Instruction& loop) {
  if (const auto known = json_value(loop.attribute("backend_config"), "known_trip_count")) {
    const std::vector<std::int64_t> numbers = numbers_in(*known);
    if (!numbers.empty()) return static_cast<std::uint64_t>(numbers.front());
  }
  const std::optional<ComputationId> condition = called_by(loop, "condition", module);
  const std::optional<ComputationId> body = called_by(loop, "body", module);
  const Instruction* start = operand_of(loop, 0, computation);
  if (!condition || !body || start == nullptr || start->opcode != "tuple") return std::nullopt;
  const std::optional<Bound> bound = bound_of(module.computations[*condition]);
  if (!bound) return std::nullopt;
  const std::optional<std::int64_t> first = constant(operand_of(*start, bound->part, computation));
  const std::optional<std::int64_t> step = step_of(module.computations[*body], bound->part);
  if (!first || !step) return std::nullopt;
  if (*first >= bound->limit) return 0;
  return static_cast<std::uint64_t>((bound->limit - *first + *step - 1) / *step);
}

}  // namespace equarx::hlo
