// Collectives within and between slices: results compared with a slow reference of every level.
#include <utility>

#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/traffic.hpp"
#include "models/numerics/errors/theory.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"
#include "tests/support/scalar_hierarchy.hpp"

namespace equarx::values::value_executor_hierarchical_test {
namespace {

using collectives::Collective;
using collectives::ExchangeOptions;
using collectives::RankGrid;
using numerics::ElementFormat;
using testing::int8_blocks;
using testing::plain;

constexpr std::uint64_t kElements = 20'011;

/// Formats within and between slices: all the same, or only one level quantized.
struct Levels {
  numerics::BlockFormat within;
  numerics::BlockFormat between;
};

std::vector<Levels> levels() {
  return {{plain(ElementFormat::bf16), plain(ElementFormat::bf16)},
          {plain(ElementFormat::bf16), int8_blocks(32)},
          {int8_blocks(32), plain(ElementFormat::bf16)},
          {int8_blocks(32), int8_blocks(16)}};
}

struct Computed {
  std::vector<float> result;
  ValueResult values;
};

Computed compute(const collectives::Program& program, const TensorSource& source,
                 std::uint64_t seed = 1) {
  Computed computed{std::vector<float>(source.elements()), {}};
  std::vector<std::uint16_t> stored(source.elements());
  ResultTensor result(ElementFormat::bf16, std::as_writable_bytes(std::span(stored)));
  computed.values =
      execute(program, source, {.threads = 2, .result = &result, .rounding_seed = seed});
  result.read(0, computed.result);
  CHECK(computed.values.ranks_identical);
  CHECK(computed.values.sent_bytes == collectives::total_sent_bytes(program));
  CHECK(computed.values.received_bytes == computed.values.sent_bytes);
  return computed;
}

}  // namespace

TEST_CASE("rings within slices and an exchange between them equal the separate levels") {
  const TensorSource source(numerics::InputSpec{.seed = 3}, kElements, ElementFormat::bf16);
  for (const RankGrid& grid : {RankGrid({2, 4}), RankGrid({3, 2, 3}), RankGrid({4, 5})})
    for (const collectives::RingStyle style : testing::kStyles)
      for (const Levels& level : levels()) {
        CAPTURE(grid.lengths(), name(style), level.within.scaled, level.between.scaled);
        const collectives::RingOptions within =
            testing::ring(style, {true, true}, level.within, 2, 3);
        const ExchangeOptions between{level.between, level.between, {3, 2}};
        const collectives::Program program = collectives::make_hierarchical_rings(
            grid, kElements, ElementFormat::bf16, within, between);
        CHECK(compute(program, source).result ==
              testing::ScalarHierarchy(within, true, between, program.partition, source).result());
      }
}

TEST_CASE("exchanges within and between slices equal the separate levels") {
  const TensorSource source(numerics::InputSpec{.seed = 3}, kElements, ElementFormat::bf16);
  for (const RankGrid& grid : {RankGrid({2, 4}), RankGrid({3, 5}), RankGrid({8, 2})})
    for (const Levels& level : levels())
      for (const bool codes_own : {false, true}) {
        CAPTURE(grid.lengths(), level.within.scaled, level.between.scaled, codes_own);
        const ExchangeOptions within{level.within, level.within, {2, 3}};
        const ExchangeOptions between{level.between, level.between, {3, 2}};
        const collectives::Program program = collectives::make_hierarchical_exchange(
            Collective::all_reduce, grid, kElements, ElementFormat::bf16, within, between,
            codes_own);
        const collectives::RingOptions formats{
            .reduce_scatter = within.reduce_scatter, .all_gather = within.all_gather, .cut = {}};
        CHECK(compute(program, source).result == testing::ScalarHierarchy(formats, false, between,
                                                                          program.partition, source,
                                                                          codes_own)
                                                     .result());
      }
}

TEST_CASE("a ReduceScatter followed by an AllGather of slices is their AllReduce, to FP32") {
  // With integers, whose sums no format rounds.
  std::vector<std::vector<float>> tensors(6, std::vector<float>(kElements));
  for (std::size_t rank = 0; rank < tensors.size(); ++rank)
    for (std::size_t i = 0; i < kElements; ++i)
      tensors[rank][i] = static_cast<float>((i * (rank + 3)) % 17) - 8.0F;
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter})
    for (const bool rings : {true, false}) {
      CAPTURE(name(collective), rings);
      std::vector<tensors::MemoryTensor> memory;
      for (const auto& tensor : tensors)
        memory.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
      const TensorSource source(std::move(memory), kElements, ElementFormat::bf16);
      const numerics::BlockFormat bf16 = plain(ElementFormat::bf16);
      const ExchangeOptions exchange{bf16, bf16, {1, 1}};
      const RankGrid grid({2, 3});
      const collectives::Program program =
          rings ? collectives::make_hierarchical_rings(grid, kElements, ElementFormat::bf16,
                                                       {.reduce_scatter = bf16,
                                                        .all_gather = bf16,
                                                        .cut = {},
                                                        .collective = collective},
                                                       exchange)
                : collectives::make_hierarchical_exchange(collective, grid, kElements,
                                                          ElementFormat::bf16, exchange, exchange);
      const Computed computed = compute(program, source);
      CHECK(computed.values.against_exact.nmse == 0.0);
      for (std::size_t i = 0; i < kElements; ++i) {
        float sum = 0.0F;
        for (const auto& tensor : tensors) sum += tensor[i];
        REQUIRE(computed.result[i] == sum);
      }
    }
}

TEST_CASE("slices that encode the same sums round them alike, stochastically too") {
  const TensorSource source(numerics::InputSpec{.seed = 3}, kElements, ElementFormat::bf16);
  numerics::BlockFormat format = int8_blocks(32);
  format.rounding = numerics::Rounding::stochastic;
  const ExchangeOptions options{format, format, {2, 1}};
  const collectives::Program program = collectives::make_hierarchical_exchange(
      Collective::all_reduce, RankGrid({3, 4}), kElements, ElementFormat::bf16, options, options);
  const Computed one = compute(program, source, 1);  // checks that ranks are identical
  const Computed other = compute(program, source, 2);
  CHECK(one.result != other.result);
}

TEST_CASE("the error of a hierarchical AllReduce is proportional to its encodings") {
  // With N(0, 1) on every rank: every term of a chunk except the own one within slices, the same
  // between slices, and the gathered data on both levels.
  constexpr std::size_t kBlock = 64;
  const double once = numerics::uniform_quantizer_nmse(kBlock, numerics::kInt8LargestCode);
  for (const auto& [slices, chips] : {std::pair{2U, 2U}, {2U, 8U}, {4U, 4U}, {8U, 8U}}) {
    const std::uint64_t elements = std::uint64_t{slices} * chips * kBlock * 64;
    const TensorSource source(numerics::InputSpec{.seed = 5}, elements, ElementFormat::fp32);
    const double within = 2.0 - 1.0 / chips;
    const double between = 2.0 - 1.0 / slices;
    for (const Levels& level : {Levels{int8_blocks(kBlock), int8_blocks(kBlock)},
                                Levels{int8_blocks(kBlock), plain(ElementFormat::fp32)},
                                Levels{plain(ElementFormat::fp32), int8_blocks(kBlock)}}) {
      CAPTURE(slices, chips, level.within.scaled, level.between.scaled);
      for (const bool codes_own : {false, true}) {
        const collectives::Program program = collectives::make_hierarchical_exchange(
            Collective::all_reduce, RankGrid({slices, chips}), elements, ElementFormat::fp32,
            {level.within, level.within, {1, 1}}, {level.between, level.between, {1, 1}},
            codes_own);
        const ValueResult result = execute(program, source, {.threads = 2});
        CHECK(result.ranks_identical);
        double encodings = (level.within.scaled ? (codes_own ? 2.0 : within) : 0.0) +
                           (level.between.scaled ? (codes_own ? 2.0 : between) : 0.0);
        // The data gathered between slices already lies on the codes of the same blocks.
        if (level.within.scaled && level.between.scaled) encodings -= 1.0;
        CHECK(result.against_exact.nmse == Approx(encodings * once).epsilon(0.05));
      }
    }
  }
}

}  // namespace equarx::values::value_executor_hierarchical_test
