#include "importers/hlo/loops.hpp"

#include <charconv>
#include <string_view>

namespace equarx::hlo {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

/// Value of a scalar integer constant; std::nullopt for other instructions.
std::optional<std::int64_t> constant(const Instruction* instruction) {
  if (instruction == nullptr || instruction->opcode != "constant") return std::nullopt;
  const std::string_view text = instruction->payload;
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = problem == std::errc() && end == text.data() + text.size();
  if (!is_whole || value < -kMaxCount || value > kMaxCount) return std::nullopt;
  return value;
}

/// Index that a get-tuple-element takes from the loop tuple.
std::optional<std::size_t> tuple_index(const Instruction* instruction) {
  if (instruction == nullptr || instruction->opcode != "get-tuple-element") return std::nullopt;
  const std::vector<std::int64_t> numbers = numbers_in(instruction->attribute("index"));
  return numbers.empty() ? std::nullopt : std::optional(static_cast<std::size_t>(numbers.front()));
}

/// Loop condition: tuple element < limit.
struct Bound {
  std::size_t part = 0;
  std::int64_t limit = 0;
};

std::optional<Bound> bound_of(const Computation& condition) {
  const Instruction& root = condition.instructions[condition.root];
  if (root.opcode != "compare" || root.attribute("direction") != "LT") return std::nullopt;
  const std::optional<std::size_t> part = tuple_index(operand_of(root, 0, condition));
  const std::optional<std::int64_t> limit = constant(operand_of(root, 1, condition));
  if (!part || !limit) return std::nullopt;
  return Bound{*part, *limit};
}

/// Increment of a tuple element per iteration; std::nullopt if it is not a positive constant.
std::optional<std::int64_t> step_of(const Computation& body, std::size_t part) {
  const Instruction* next = operand_of(body.instructions[body.root], part, body);
  if (next == nullptr || next->opcode != "add") return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const std::optional<std::int64_t> step = constant(operand_of(*next, side, body));
    if (step && *step > 0 && tuple_index(operand_of(*next, 1 - side, body)) == part) return step;
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
