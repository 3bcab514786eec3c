// Arithmetic of sums: results compared, bit for bit, with a scalar reading of the rules, over random
// programs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/quickreduce_program.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/collectives/with_arithmetic.hpp"
#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::value_executor_arithmetic_test {
namespace {

using collectives::Arithmetic;
using collectives::Collective;
using collectives::OwnerKeeps;
using collectives::Program;
using collectives::Residual;
using collectives::Subnormals;
using collectives::SumOrder;
using numerics::ElementFormat;

constexpr numerics::BlockFormat kBf16{.element = ElementFormat::bf16};

/// One conversion, as a scalar.
float rounded(ElementFormat type, float value) {
  if (type == ElementFormat::fp32) return value;
  if (type == ElementFormat::fp16)
    return numerics::float_from_fp16(numerics::fp16_from_float(value));
  return numerics::float_from_bf16(numerics::bf16_from_float(value));
}

float flushed(const Arithmetic& arithmetic, float value) {
  const ElementFormat type = arithmetic.accumulate.value_or(ElementFormat::fp32);
  const float smallest = type == ElementFormat::fp16 ? 0x1p-14F : 0x1p-126F;
  const bool flushes = arithmetic.subnormals == Subnormals::flush;
  return flushes && std::fabs(value) < smallest ? std::copysign(0.0F, value) : value;
}

float converted(const Arithmetic& arithmetic, float value) {
  return rounded(arithmetic.accumulate.value_or(ElementFormat::fp32), flushed(arithmetic, value));
}

float added(const Arithmetic& arithmetic, float sum, float term) {
  return converted(arithmetic, converted(arithmetic, sum) + converted(arithmetic, term));
}

/// BF16 values by rank: normal, large and subnormal ones.
std::vector<std::vector<float>> inputs(std::uint32_t ranks, std::size_t elements, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> tensors(ranks, std::vector<float>(elements));
  for (auto& tensor : tensors)
    for (std::size_t i = 0; i < elements; ++i) {
      const int exponent = i % 13 == 0 ? -128 : i % 11 == 0 ? 14 : i % 7 == 0 ? -16 : 0;
      tensor[i] = rounded(ElementFormat::bf16, std::ldexp(normal(random), exponent));
    }
  return tensors;
}

std::vector<tensors::MemoryTensor> memory(const std::vector<std::vector<float>>& tensors) {
  std::vector<tensors::MemoryTensor> all;
  for (const auto& tensor : tensors)
    all.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
  return all;
}

struct Computed {
  std::vector<float> result;
  ValueResult values;
};

Computed computed(const Program& program, const std::vector<std::vector<float>>& tensors,
                  const std::vector<float>* residual = nullptr) {
  const std::size_t elements = tensors.front().size();
  const TensorSource source(memory(tensors), elements, ElementFormat::bf16);
  std::optional<TensorSource> added;
  const std::vector<std::vector<float>> only(
      1, residual != nullptr ? *residual : std::vector<float>());
  if (residual != nullptr) added.emplace(memory(only), elements, ElementFormat::bf16);
  ResultTensor result(elements, ElementFormat::bf16);
  Computed all;
  all.values = execute(program, source,
                       {.threads = 1, .result = &result, .residual = added ? &*added : nullptr});
  all.result.resize(elements);
  result.read(0, all.result);
  return all;
}

std::size_t differing(const std::vector<float>& one, const std::vector<float>& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    count += std::memcmp(&one[i], &other[i], sizeof(float)) != 0 &&
             !(std::isnan(one[i]) && std::isnan(other[i]));
  return count;
}

/// Sums terms in an order, from an empty sum, and rounds to BF16.
float summed(const Arithmetic& arithmetic, const std::vector<std::vector<float>>& tensors,
             const std::vector<std::size_t>& order, std::size_t element) {
  float sum = 0.0F;
  for (const std::size_t rank : order) sum = added(arithmetic, sum, tensors[rank][element]);
  return rounded(ElementFormat::bf16, sum);
}

std::vector<std::size_t> order_from(std::size_t first, std::size_t ranks) {
  std::vector<std::size_t> order(ranks);
  for (std::size_t i = 0; i < ranks; ++i) order[i] = (first + i) % ranks;
  return order;
}

std::vector<Arithmetic> arithmetics() {
  std::vector<Arithmetic> all;
  for (const ElementFormat type : {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::fp16})
    for (const Subnormals subnormals : {Subnormals::keep, Subnormals::flush})
      all.push_back({.accumulate = type, .subnormals = subnormals});
  return all;
}

}  // namespace

TEST_CASE("one-shot adds in the accumulator, from rank 0 on") {
  for (const std::uint32_t ranks : {2U, 3U, 8U, 16U})
    for (const Arithmetic& arithmetic : arithmetics()) {
      const std::size_t elements = 3000;
      const auto tensors = inputs(ranks, elements, ranks);
      const Program program = collectives::with_arithmetic(
          collectives::make_one_shot_all_reduce(ranks, elements, ElementFormat::bf16,
                                                {.reduce_scatter = kBf16, .all_gather = kBf16}),
          arithmetic);
      std::vector<float> expected(elements);
      for (std::size_t i = 0; i < elements; ++i)
        expected[i] = summed(arithmetic, tensors, order_from(0, ranks), i);
      const Computed got = computed(program, tensors);
      CAPTURE(ranks, numerics::name(*arithmetic.accumulate), name(arithmetic.subnormals));
      CHECK(differing(got.result, expected) == 0);
      CHECK(got.values.ranks_identical);
    }
}

TEST_CASE("two-shot adds in the order of ranks, or from the owner on") {
  for (const std::uint32_t ranks : {2U, 4U, 5U, 8U})
    for (const SumOrder order : {SumOrder::ranks, SumOrder::owner})
      for (Arithmetic arithmetic : arithmetics()) {
        arithmetic.order = order;
        const std::size_t shard = 700;
        const std::size_t elements = shard * ranks;
        const auto tensors = inputs(ranks, elements, ranks + 100);
        const Program program = collectives::with_arithmetic(
            collectives::make_direct_exchange(
                Collective::all_reduce, ranks, elements, ElementFormat::bf16,
                {.reduce_scatter = kBf16, .all_gather = kBf16, .order = order}),
            arithmetic);
        std::vector<float> expected(elements);
        for (std::size_t i = 0; i < elements; ++i)
          expected[i] = summed(arithmetic, tensors,
                               order_from(order == SumOrder::owner ? i / shard : 0, ranks), i);
        CAPTURE(ranks, numerics::name(*arithmetic.accumulate), name(order));
        CHECK(differing(computed(program, tensors).result, expected) == 0);
      }
}

TEST_CASE("a ring rounds at every hop, after the accumulator") {
  for (const std::uint32_t ranks : {2U, 4U, 7U})
    for (const Arithmetic& arithmetic : arithmetics()) {
      const std::size_t shard = 500;
      const std::size_t elements = shard * ranks * 2;
      const auto tensors = inputs(ranks, elements, ranks + 200);
      const Program program = collectives::with_arithmetic(
          testing::make_ring_all_reduce(ranks, elements, ElementFormat::bf16,
                                        {.style = collectives::RingStyle::full_loop,
                                         .reduce_scatter = kBf16,
                                         .all_gather = kBf16}),
          arithmetic);
      const collectives::Partition& partition = program.partition;
      std::vector<float> expected(elements);
      for (std::size_t i = 0; i < elements; ++i) {
        const std::uint32_t segment = i >= partition.segment_begin(1) ? 1 : 0;
        const std::size_t owner = (i - partition.segment_begin(segment)) / shard;
        // Forwards the sum starts after the owner, backwards before it.
        std::size_t rank = owner;
        float sum = 0.0F;
        for (std::size_t step = 0; step < ranks; ++step) {
          rank = segment == 0 ? (rank + 1) % ranks : (rank + ranks - 1) % ranks;
          // The own term is the accumulator's, the partial sum arrives.
          sum = step == 0 ? tensors[rank][i]
                          : rounded(ElementFormat::bf16, added(arithmetic, tensors[rank][i], sum));
        }
        expected[i] = rounded(ElementFormat::bf16, sum);
      }
      CAPTURE(ranks, numerics::name(*arithmetic.accumulate), name(arithmetic.subnormals));
      CHECK(differing(computed(program, tensors).result, expected) == 0);
    }
}

TEST_CASE("a residual is added before or after the sum is rounded") {
  for (const Residual place : {Residual::before, Residual::after})
    for (const bool one_shot : {true, false}) {
      const std::uint32_t ranks = 4;
      const std::size_t elements = 4096;
      const auto tensors = inputs(ranks, elements, 31);
      const std::vector<float> residual = inputs(1, elements, 32).front();
      const Arithmetic arithmetic{.accumulate = ElementFormat::fp32,
                                  .order = one_shot ? SumOrder::arrival : SumOrder::ranks,
                                  .residual = place};
      const collectives::ExchangeOptions options{
          .reduce_scatter = kBf16, .all_gather = kBf16, .order = arithmetic.order};
      const Program program = collectives::with_arithmetic(
          one_shot
              ? collectives::make_one_shot_all_reduce(ranks, elements, ElementFormat::bf16, options)
              : collectives::make_direct_exchange(Collective::all_reduce, ranks, elements,
                                                  ElementFormat::bf16, options),
          arithmetic);
      std::vector<float> expected(elements);
      double exact = 0.0;
      for (std::size_t i = 0; i < elements; ++i) {
        float sum = 0.0F;
        for (const auto& tensor : tensors) sum += tensor[i];
        if (place == Residual::after) sum = rounded(ElementFormat::bf16, sum);
        expected[i] = rounded(ElementFormat::bf16, sum + residual[i]);
        double all = residual[i];
        for (const auto& tensor : tensors) all += tensor[i];
        exact = std::max(exact, std::fabs(double{expected[i]} - all));
      }
      const Computed got = computed(program, tensors, &residual);
      CAPTURE(name(place), one_shot);
      CHECK(differing(got.result, expected) == 0);
      CHECK(got.values.against_exact.max_abs_error == exact);
    }
}

TEST_CASE("a residual of another size is refused") {
  const Program program = collectives::with_arithmetic(
      collectives::make_one_shot_all_reduce(2, 64, ElementFormat::bf16,
                                            {.reduce_scatter = kBf16, .all_gather = kBf16}),
      {.residual = Residual::after});
  const auto tensors = inputs(2, 64, 1);
  CHECK_THROWS_AS(computed(program, tensors), std::invalid_argument);
  const TensorSource source(memory(tensors), 64, ElementFormat::bf16);
  const TensorSource other(numerics::InputSpec{}, 65, ElementFormat::bf16);
  CHECK_THROWS_AS(execute(program, source, {.residual = &other}), std::invalid_argument);
}

TEST_CASE("owners that keep their sums differ from the others in what the codes lose") {
  const std::uint32_t ranks = 4;
  const std::size_t elements = 8192;
  const auto tensors = inputs(ranks, elements, 77);
  const numerics::BlockFormat int8 = testing::int8_blocks(32);
  const Program sent = collectives::make_direct_exchange(
      Collective::all_reduce, ranks, elements, ElementFormat::bf16,
      {.reduce_scatter = kBf16, .all_gather = int8, .cut = {1, 1}});
  const Program kept = collectives::with_arithmetic(sent, {.owner = OwnerKeeps::summed});
  const Computed same = computed(sent, tensors);
  const Computed differ = computed(kept, tensors);
  CHECK(same.values.ranks_identical);
  CHECK(same.values.differing == 0);
  CHECK_FALSE(differ.values.ranks_identical);
  // All others receive the result; the owner has the sum, rounded only to BF16.
  CHECK(differing(same.result, differ.result) == 0);
  const std::vector<float> residual = inputs(1, elements, 78).front();
  const Computed added = computed(collectives::with_arithmetic(sent, {.owner = OwnerKeeps::summed,
                                                                      .residual = Residual::after}),
                                  tensors, &residual);
  std::uint64_t expected = 0;
  std::uint64_t expected_with_residual = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t shard = elements / ranks;
    float sum = tensors[i / shard][i];  // own first, then from the ranks before
    for (std::uint32_t round = 1; round < ranks; ++round)
      sum += tensors[(i / shard + ranks - round) % ranks][i];
    const float own = rounded(ElementFormat::bf16, sum);
    expected += own != same.result[i] ? 1 : 0;
    expected_with_residual +=
        rounded(ElementFormat::bf16, own + residual[i]) != added.result[i] ? 1 : 0;
  }
  CHECK(differ.values.differing == expected);
  CHECK(added.values.differing == expected_with_residual);
}

TEST_CASE("overflow becomes Inf or the largest value") {
  const std::vector<std::vector<float>> tensors = {{60000.0F, 1e30F, -70000.0F, 65504.0F},
                                                   {60000.0F, 3e38F, 0.0F, 0.0F}};
  const auto result = [&](collectives::Overflow overflow, ElementFormat accumulate) {
    const Program program = collectives::with_arithmetic(
        collectives::make_one_shot_all_reduce(2, 4, ElementFormat::bf16,
                                              {.reduce_scatter = kBf16, .all_gather = kBf16}),
        {.accumulate = accumulate, .overflow = overflow});
    return computed(program, tensors).result;
  };
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> by_type = result(collectives::Overflow::by_type, ElementFormat::fp16);
  CHECK(by_type[0] == inf);
  CHECK(by_type[1] == inf);
  CHECK(by_type[2] == -inf);
  const std::vector<float> saturated = result(collectives::Overflow::saturate, ElementFormat::fp16);
  CHECK(saturated[0] == 65536.0F);  // 65504 in BF16
  CHECK(saturated[1] == 65536.0F);
  CHECK(saturated[2] == -65536.0F);
  CHECK(result(collectives::Overflow::saturate, ElementFormat::fp32)[0] == 119808.0F);
}

TEST_CASE("feedback requires the default arithmetic") {
  const Program program = collectives::with_arithmetic(
      collectives::make_one_shot_all_reduce(2, 64, ElementFormat::bf16,
                                            {.reduce_scatter = kBf16, .all_gather = kBf16}),
      {.accumulate = ElementFormat::bf16});
  const TensorSource source(numerics::InputSpec{}, 64, ElementFormat::bf16);
  std::vector<float> lost(64);
  const Feedback feedback = {lost, lost};
  CHECK_THROWS_AS(execute(program, source, {.feedback = &feedback}), std::invalid_argument);
}

TEST_CASE("windows have the elements of the whole result") {
  const std::uint32_t ranks = 4;
  const std::size_t elements = 50000;
  const auto tensors = inputs(ranks, elements, 3);
  const Program program =
      testing::make_ring_all_reduce(ranks, elements, ElementFormat::bf16,
                                    testing::ring(collectives::RingStyle::full_loop, {true, true},
                                                  testing::int8_blocks(32), 3, 2));
  const std::vector<float> whole = computed(program, tensors).result;
  Windows windows = Windows::spread(elements, 5, 1000);
  REQUIRE(windows.ranges.size() == 5);
  CHECK(windows.ranges[0].begin == 4500);
  const TensorSource source(memory(tensors), elements, ElementFormat::bf16);
  const ValueResult some = execute(program, source, {.threads = 2, .windows = &windows});
  CHECK(some.computed_elements < elements);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 1000; ++j)
      REQUIRE(windows.values[i][j] == whole[windows.ranges[i].begin + j]);
  CHECK(Windows::spread(100, 5, 1000).ranges.size() == 1);
}

}  // namespace equarx::values::value_executor_arithmetic_test
