// Error feedback: losses of one step are added in the next.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/casts.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"

namespace equarx::values::value_executor_feedback_test {
namespace {

using collectives::Collective;
using collectives::RankGrid;
using numerics::ElementFormat;
using numerics::ScaleRule;

constexpr std::uint32_t kRanks = 8;
constexpr std::size_t kElements = 5003;  // a prime, so that nothing divides it

struct Case {
  std::string_view algorithm;
  RankGrid grid;
  numerics::BlockFormat format;
};

const numerics::BlockFormat kInt4{.element = ElementFormat::int4,
                                  .scaled = true,
                                  .layout = numerics::ScaleLayout::contiguous,
                                  .block = 32};
const numerics::BlockFormat kFp8{.element = ElementFormat::fp8_e4m3};
const numerics::BlockFormat kFp8Lm{.element = ElementFormat::fp8_e4m3, .rule = ScaleRule::fp8lm};
const numerics::BlockFormat kQsgd{.element = ElementFormat::int8, .rule = ScaleRule::global_qsgd};

std::vector<Case> cases() {
  const RankGrid ring({kRanks});
  const RankGrid torus({4, 2});
  const RankGrid cube({2, 2, 2});
  return {{"equarx", ring, kInt4},
          {"torus", torus, kInt4},
          {"halving-doubling", cube, kInt4},
          {"two-shot", ring, kInt4},
          {"one-shot", ring, kInt4},
          {"quickreduce", ring, kInt4},
          {"ring", ring, kFp8},
          {"quickreduce", ring, kFp8},
          {"ring", ring, kFp8Lm},
          {"torus", torus, kFp8Lm},
          {"two-shot", ring, kFp8Lm},
          {"binomial-tree", cube, kFp8Lm},
          {"ring", ring, kQsgd},
          {"binomial-tree", cube, kQsgd},
          // Two slices encode the same sums for the last phase, and only one may record the loss.
          {"hierarchical", cube, kInt4},
          {"hierarchical", cube, kFp8},
          {"hierarchical-two-shot", RankGrid({2, 4}), kInt4},
          {"qgz", RankGrid({2, 4}), kInt4}};
}

collectives::Program program_of(const Case& one, Collective collective = Collective::all_reduce) {
  const bool shared = numerics::has_shared_scale(one.format);
  collectives::Program program =
      collectives::find_algorithm(one.algorithm)
          ->make({.collective = collective,
                  .grid = one.grid,
                  .elements = kElements,
                  .dtype = shared ? one.format.element : ElementFormat::fp32,
                  .reduce_scatter = one.format,
                  .all_gather = one.format,
                  .cut = {.minishards = 2, .microshards = 2},
                  .reduce_scatter_between = one.format,
                  .all_gather_between = one.format});
  return shared ? collectives::with_casts(std::move(program), ElementFormat::fp32) : program;
}

using Tensors = std::vector<std::vector<float>>;

TensorSource source_of(const Tensors& tensors) {
  std::vector<tensors::MemoryTensor> memory;
  for (const auto& tensor : tensors)
    memory.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
  return {std::move(memory), kElements, ElementFormat::fp32};
}

Feedback feedback_of(Tensors& lost) {
  Feedback feedback;
  for (auto& rank : lost) feedback.emplace_back(rank);
  return feedback;
}

Tensors normal(std::uint64_t seed) {
  const TensorSource source(numerics::InputSpec{.seed = seed}, kElements, ElementFormat::fp32);
  Tensors tensors(kRanks, std::vector<float>(kElements));
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) source.read(rank, 0, tensors[rank]);
  return tensors;
}

std::vector<float> step(const collectives::Program& program, const Tensors& tensors,
                        const Feedback* feedback, unsigned threads = 1) {
  std::vector<float> stored(kElements);
  ResultTensor result(ElementFormat::fp32, std::as_writable_bytes(std::span(stored)));
  const TensorSource source = source_of(tensors);
  const ValueResult values =
      execute(program, source, {.threads = threads, .result = &result, .feedback = feedback});
  CHECK(values.ranks_identical);
  return stored;
}

TEST_CASE("delivered results plus remaining losses equal the sum of all inputs") {
  for (const Case& one : cases())
    for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
      if (!collectives::find_algorithm(one.algorithm)->does(collective)) continue;
      CAPTURE(one.algorithm, name(one.format.element), name(collective));
      const collectives::Program program = program_of(one, collective);
      Tensors lost(kRanks, std::vector<float>(kElements));
      const Feedback feedback = feedback_of(lost);
      std::vector<double> brought(kElements);
      std::vector<double> delivered(kElements);
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Tensors tensors = normal(seed);
        const std::vector<float> result = step(program, tensors, &feedback);
        for (std::size_t i = 0; i < kElements; ++i) {
          delivered[i] += double{result[i]};
          for (const auto& tensor : tensors) brought[i] += double{tensor[i]};
        }
      }
      double left = 0.0;
      double wrong = 0.0;
      for (std::size_t i = 0; i < kElements; ++i) {
        double of_element = 0.0;
        for (const auto& rank : lost) of_element += double{rank[i]};
        left += of_element * of_element;
        wrong = std::max(wrong, std::fabs(brought[i] - delivered[i] - of_element));
      }
      CHECK(left > 0.0);
      CHECK(wrong < 1e-4);  // for sums of 32 in FP32
    }
}

TEST_CASE(
    "with feedback the error of the mean falls with the number of steps, without it does not") {
  const collectives::Program program = program_of(cases().front());
  const Tensors same = normal(1);  // the quantization error is the same each time
  constexpr int kSteps = 20;
  const auto error = [&](const Feedback* feedback) {
    std::vector<double> mean(kElements);
    for (int i = 0; i < kSteps; ++i) {
      const std::vector<float> result = step(program, same, feedback);
      for (std::size_t e = 0; e < kElements; ++e) mean[e] += double{result[e]} / kSteps;
    }
    double squares = 0.0;
    for (std::size_t e = 0; e < kElements; ++e) {
      double exact = 0.0;
      for (const auto& tensor : same) exact += double{tensor[e]};
      squares += (mean[e] - exact) * (mean[e] - exact);
    }
    return squares;
  };
  Tensors lost(kRanks, std::vector<float>(kElements));
  const Feedback feedback = feedback_of(lost);
  CHECK(error(&feedback) < error(nullptr) / 50.0);
}

TEST_CASE("feedback does not depend on threads, and zero feedback changes nothing") {
  for (const Case& one : cases()) {
    CAPTURE(one.algorithm);
    const collectives::Program program = program_of(one);
    const Tensors tensors = normal(3);
    Tensors first(kRanks, std::vector<float>(kElements));
    Tensors second = first;
    const Feedback of_first = feedback_of(first);
    const Feedback of_second = feedback_of(second);
    CHECK(step(program, tensors, &of_first, 1) == step(program, tensors, nullptr));
    step(program, tensors, &of_second, 3);
    CHECK(first == second);
  }
}

TEST_CASE("NaN and Inf are not fed back") {
  const collectives::Program program = program_of(cases().front());
  Tensors tensors = normal(2);
  tensors[3][17] = std::numeric_limits<float>::quiet_NaN();
  Tensors lost(kRanks, std::vector<float>(kElements));
  const Feedback feedback = feedback_of(lost);
  step(program, tensors, &feedback);
  for (const auto& rank : lost)
    CHECK(std::ranges::all_of(rank, [](float value) { return std::isfinite(value); }));
}

TEST_CASE("feedback that does not fit the tensors is refused") {
  const collectives::Program program = program_of(cases().front());
  const Tensors tensors = normal(1);
  const TensorSource source = source_of(tensors);
  Tensors lost(kRanks - 1, std::vector<float>(kElements));
  Feedback feedback = feedback_of(lost);
  CHECK_THROWS_AS(execute(program, source, {.feedback = &feedback}), std::invalid_argument);
  lost.assign(kRanks, std::vector<float>(kElements - 1));
  feedback = feedback_of(lost);
  CHECK_THROWS_AS(execute(program, source, {.feedback = &feedback}), std::invalid_argument);
  lost.assign(kRanks, std::vector<float>(kElements));
  feedback = feedback_of(lost);
  CHECK_THROWS_AS(execute(program, source, {.sample = 0.5, .feedback = &feedback}),
                  std::invalid_argument);
  const collectives::Program gather = program_of(cases().front(), Collective::all_gather);
  CHECK_THROWS_AS(execute(gather, source, {.feedback = &feedback}), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::values::value_executor_feedback_test
