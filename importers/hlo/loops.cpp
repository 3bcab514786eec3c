#include "importers/hlo/loops.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "importers/hlo/scalars.hpp"

namespace equarx::hlo {
namespace {

using State = std::vector<MaybeScalar>;

/// A loop with its state, which is a tuple or a single array.
class Loop {
 public:
  Loop(const Module& module, const Computation& condition, const Computation& body, State first,
       const Shape& shape)
      : module_(module),
        condition_(condition),
        body_(body),
        first_(std::move(first)),
        shape_(shape) {}

  /// Iterations if an element of the state changes by a constant, and the condition compares it
  /// with constants.
  std::optional<std::uint64_t> counted() const {
    State fixed = first_;  // elements that never change
    for (std::size_t i = 0; i < fixed.size(); ++i)
      if (fixed[i] && step_of(i, State(first_.size())) != 0) fixed[i] = std::nullopt;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (!first_[i] || fixed[i]) continue;
      const std::optional<std::int64_t> step = step_of(i, fixed);
      if (!step) continue;
      State state = fixed;
      state[i] = Scalar{.offset = 0, .slope = 1};
      ScalarEvaluator condition(module_, condition_, arguments(std::move(state)));
      const auto comparison = condition.comparison(condition_.root);
      if (!comparison || comparison->difference.slope == 0) continue;
      if (const auto times = solved(*comparison, first_[i]->offset, *step, type_of(i)))
        return times;
    }
    return std::nullopt;
  }

  /// Iterations found by running the loop, as XLA's WhileLoopAnalysis does.
  std::optional<std::uint64_t> run() const {
    constexpr std::uint64_t kMaxIterations = 128;
    constexpr int kMaxEvaluations = 10'000;
    int evaluations = 0;
    State state = first_;
    for (std::uint64_t times = 0; times <= kMaxIterations; ++times) {
      const MaybeScalar goes_on =
          ScalarEvaluator(module_, condition_, arguments(state)).value(condition_.root);
      if (!goes_on || !goes_on->is_constant()) return std::nullopt;
      if (goes_on->offset == 0) return times;
      const State before = state;
      for (std::size_t i = 0; i < state.size(); ++i) {
        if (!state[i]) continue;
        if (++evaluations > kMaxEvaluations) return std::nullopt;
        state[i] = ScalarEvaluator(module_, body_, arguments(before)).element(body_.root, i);
      }
    }
    return std::nullopt;
  }

 private:
  static std::vector<Argument> arguments(State state) {
    std::vector<Argument> made(1);
    made.front() = std::move(state);
    return made;
  }

  std::string_view type_of(std::size_t element) const {
    if (!shape_.is_tuple) return shape_.type;
    return element < shape_.parts.size() ? shape_.parts[element].type : std::string_view{};
  }

  /// Change of an element per iteration, if it is constant. `others`: values of other elements.
  std::optional<std::int64_t> step_of(std::size_t element, State others) const {
    others[element] = Scalar{.offset = 0, .slope = 1};
    const MaybeScalar next =
        ScalarEvaluator(module_, body_, arguments(std::move(others))).element(body_.root, element);
    return next && next->slope == 1 ? std::optional(next->offset) : std::nullopt;
  }

  /// Least n >= 0 for which the comparison is false at counter = first + n * step.
  static std::optional<std::uint64_t> solved(const ScalarEvaluator::Comparison& comparison,
                                             std::int64_t first, std::int64_t step,
                                             std::string_view type) {
    // Difference of the compared values: begin + n * change. ScalarEvaluator bounds both by 2^61.
    const auto change = comparison.difference.slope * step;
    const auto begin = comparison.difference.offset + comparison.difference.slope * first;
    const std::string_view direction = comparison.direction;
    const bool rises = direction == "LT" || direction == "LE";
    std::int64_t times = 0;
    if (direction == "NE") {
      if (begin == 0) return 0;
      if (change == 0 || begin % change != 0 || -begin / change < 0) return std::nullopt;
      times = -begin / change;
    } else if (direction == "EQ") {
      times = begin == 0 ? 1 : 0;
      if (change == 0 && begin == 0) return std::nullopt;
    } else if (rises || direction == "GT" || direction == "GE") {
      // Goes on while distance > 0.
      const std::int64_t equal_too = direction == "LE" || direction == "GE" ? 1 : 0;
      const std::int64_t distance = (rises ? -begin : begin) + equal_too;
      const std::int64_t closer = rises ? change : -change;
      if (distance <= 0) return 0;
      if (closer <= 0) return std::nullopt;
      times = (distance + closer - 1) / closer;
    } else {
      return std::nullopt;
    }
    return is_reached(first + times * step, type) ? std::optional(static_cast<std::uint64_t>(times))
                                                  : std::nullopt;
  }

  /// True if a counter does not wrap around before it has this value.
  static bool is_reached(std::int64_t last, std::string_view type) {
    constexpr std::uint32_t kMaxBits = 62;
    const std::uint32_t bits = std::min(type_bits(type), kMaxBits);
    if (bits == 0) return false;
    const std::int64_t one = 1;
    if (type.starts_with("u")) return last >= 0 && last < one << bits;
    return last >= -(one << (bits - 1)) && last < one << (bits - 1);
  }

  const Module& module_;
  const Computation& condition_;
  const Computation& body_;
  State first_;
  const Shape& shape_;
};

}  // namespace

std::optional<std::uint64_t> trip_count(const Module& module, const Computation& computation,
                                        const Instruction& loop) {
  if (const auto known = json_value(loop.attribute("backend_config"), "known_trip_count")) {
    const std::vector<std::int64_t> numbers = numbers_in(*known);
    if (!numbers.empty()) return static_cast<std::uint64_t>(numbers.front());
  }
  const std::optional<ComputationId> condition = called_by(loop, "condition", module);
  const std::optional<ComputationId> body = called_by(loop, "body", module);
  if (!condition || !body || loop.operands.empty() || loop.operands.front() == kNoInstruction)
    return std::nullopt;
  constexpr std::size_t kMaxElements = 1000;
  const std::size_t elements =
      loop.shape.is_tuple ? std::min(loop.shape.parts.size(), kMaxElements) : 1;
  State first;
  for (std::size_t i = 0; i < elements; ++i)
    first.push_back(ScalarEvaluator(module, computation, {}).element(loop.operands.front(), i));
  const Loop counter(module, module.computations[*condition], module.computations[*body],
                     std::move(first), loop.shape);
  const std::optional<std::uint64_t> times = counter.counted();
  return times ? times : counter.run();
}

}  // namespace equarx::hlo
