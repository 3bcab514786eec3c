// Records of values against sums computed here, and against the results of the same run.
#include "models/values/value_record.hpp"

#include <cstring>
#include <span>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/with_arithmetic.hpp"
#include "models/numerics/elements/bfloat16.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::value_record_test {
namespace {

using collectives::Collective;
using collectives::Program;
using collectives::Rank;
using numerics::ElementFormat;

constexpr numerics::BlockFormat kBf16{.element = ElementFormat::bf16};

TensorSource source_of(std::uint64_t elements) {
  return {numerics::InputSpec{}, elements, ElementFormat::bf16};
}

struct Recorded {
  ValueRecord record;
  std::vector<float> result;
};

Recorded recorded(const Program& program) {
  const std::uint64_t elements = program.partition.elements();
  Recorded both;
  ResultTensor result(elements, ElementFormat::bf16);
  execute(program, source_of(elements), {.result = &result, .record = &both.record});
  both.result.resize(elements);
  result.read(0, both.result);
  return both;
}

/// Checks that every rank has every element of the common result.
void check_results(const Recorded& both) {
  for (const std::vector<ResultPart>& parts : both.record.results) {
    std::uint64_t next = 0;
    for (const ResultPart& part : parts) {
      REQUIRE(part.range.begin == next);
      next = part.range.end;
      CHECK(std::memcmp(part.values.data(), &both.result[part.range.begin],
                        part.values.size() * sizeof(float)) == 0);
    }
    CHECK(next == both.result.size());
  }
}

Program two_shot(const numerics::BlockFormat& format, std::uint64_t elements) {
  return collectives::make_direct_exchange(Collective::all_reduce, 4, elements, ElementFormat::bf16,
                                           {.reduce_scatter = format, .all_gather = format});
}

}  // namespace

TEST_CASE("one-shot records the accumulator after every addition, once for all ranks") {
  const std::uint64_t elements = 259;
  const Recorded both = recorded(collectives::make_one_shot_all_reduce(
      4, elements, ElementFormat::bf16, {.reduce_scatter = kBf16, .all_gather = kBf16}));
  const TensorSource source = source_of(elements);
  std::vector<std::vector<float>> sums;
  std::vector<float> sum(elements, 0.0F);
  std::vector<float> term(elements);
  for (Rank rank = 0; rank < 4; ++rank) {
    source.read(rank, 0, term);
    for (std::size_t i = 0; i < elements; ++i) sum[i] += term[i];
    sums.push_back(sum);
  }
  REQUIRE(both.record.steps.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const RecordedStep& step = both.record.steps[i];
    CHECK(step.kind == StepKind::sum);
    CHECK(step.ranks == std::vector<Rank>{0, 1, 2, 3});
    CHECK(step.terms.size() == i + 1);
    CHECK(step.range == collectives::Range{0, elements});
    CHECK(step.values == sums[i]);
  }
  for (std::size_t i = 0; i < elements; ++i)
    CHECK(both.result[i] == numerics::float_from_bf16(numerics::bf16_from_float(sum[i])));
  check_results(both);
}

TEST_CASE("a ring in bf16 records sums and their roundings, without padding") {
  const Recorded both = recorded(testing::make_ring_all_reduce(
      4, 67, ElementFormat::bf16,
      testing::ring(collectives::RingStyle::full_loop, {false, false}, kBf16, 1, 1)));
  std::size_t rounded = 0;
  for (std::size_t i = 0; i < both.record.steps.size(); ++i) {
    const RecordedStep& step = both.record.steps[i];
    CHECK(step.range.end <= 67);
    CHECK(step.values.size() == step.range.size());
    if (step.kind == StepKind::sum) CHECK(step.terms.size() >= 2);
    if (step.kind != StepKind::rounded) continue;
    ++rounded;
    for (const float value : step.values)
      CHECK(value == numerics::float_from_bf16(numerics::bf16_from_float(value)));
  }
  CHECK(rounded >= 3 * 4);  // every shard is added to three times
  check_results(both);
}

TEST_CASE("messages with scales are recorded as readers decode them") {
  const Recorded both = recorded(two_shot(testing::int8_blocks(32), 256));
  std::size_t scales = 0;
  for (const RecordedStep& step : both.record.steps) {
    if (step.kind == StepKind::scales) {
      ++scales;
      CHECK(step.minishard.size() == 64);
      CHECK(step.values.size() == 2);
    }
    if (step.kind != StepKind::encoded || step.terms.size() != 4) continue;
    for (std::size_t i = 0; i < step.values.size(); ++i)  // the final sum is on its way
      CHECK(numerics::float_from_bf16(numerics::bf16_from_float(step.values[i])) ==
            both.result[step.range.begin + i]);
  }
  CHECK(scales == 4 * 3 + 4);  // every rank encodes three terms and a sum
  check_results(both);
}

TEST_CASE("an owner that keeps its own sum has other bits in its shard only") {
  const Program program = collectives::with_arithmetic(two_shot(testing::int8_blocks(32), 256),
                                                       {.owner = collectives::OwnerKeeps::summed});
  const Recorded both = recorded(program);
  for (Rank rank = 0; rank < 4; ++rank)
    for (const ResultPart& part : both.record.results[rank])
      for (std::size_t i = 0; i < part.values.size(); ++i)
        if ((part.range.begin + i) / 64 != rank)
          CHECK(part.values[i] == both.result[part.range.begin + i]);
  bool differs = false;
  for (const ResultPart& part : both.record.results[1])
    for (std::size_t i = 0; i < part.values.size(); ++i)
      differs = differs || part.values[i] != both.result[part.range.begin + i];
  CHECK(differs);
}

TEST_CASE("an AllGather, or a sample, has no record") {
  ValueRecord record;
  const Program gather =
      collectives::make_direct_exchange(Collective::all_gather, 4, 256, ElementFormat::bf16,
                                        {.reduce_scatter = kBf16, .all_gather = kBf16});
  CHECK_THROWS_AS(execute(gather, source_of(256), {.record = &record}), std::invalid_argument);
  CHECK_THROWS_AS(execute(two_shot(kBf16, 256), source_of(256), {.sample = 0.5, .record = &record}),
                  std::invalid_argument);
}

}  // namespace equarx::values::value_record_test
