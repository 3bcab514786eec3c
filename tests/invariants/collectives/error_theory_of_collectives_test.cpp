// Errors of tori, exchanges and recursive algorithms against models/numerics/errors/theory.hpp.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/numerics/errors/theory.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/error_theory.hpp"
#include "tests/support/rings.hpp"

namespace equarx::error_theory_of_collectives_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;
using equarx::numerics::InputSpec;

namespace {

using Lengths = std::vector<std::uint32_t>;

constexpr double kInt8 = 127.0;
constexpr std::size_t kBlock = 128;
// Divisible by all grids x segments below and by 128 elements per scale: no group is short. 4000
// groups give the mean to 0.7 %.
constexpr std::uint64_t kElements = std::uint64_t{kBlock} * 64 * 9 * 8;
constexpr RingStyle kBoth[] = {RingStyle::full_loop, RingStyle::semi_loop};

double nmse(const Program& program, bool identical_ranks = false) {
  const InputSpec inputs{.seed = 25, .identical_ranks = identical_ranks};
  const TensorSource source(inputs, program.partition.elements(), ElementFormat::fp32);
  const ValueResult result = execute(program, source, {.threads = 1});
  REQUIRE(result.ranks_identical);
  return result.against_exact.nmse;
}

double once() { return equarx::numerics::uniform_quantizer_nmse(kBlock, kInt8); }

double theory(std::uint32_t ranks, const equarx::numerics::Edges& edges, bool gathers) {
  return testing::allreduce_nmse(once(), ranks, edges, gathers);
}

Program torus(const Lengths& lengths, RingStyle style, bool rotate = true,
              Quantized phases = {true, true}) {
  RingOptions options = ring(style, phases, int8_blocks(kBlock), 1, 1, ElementFormat::fp32);
  options.rotate_axes = rotate;
  return make_ring_program(RankGrid(lengths), kElements, ElementFormat::fp32, options);
}

ExchangeOptions exchange() {
  return {int8_blocks(kBlock), int8_blocks(kBlock), {.minishards = 1, .microshards = 1}};
}

equarx::numerics::Edges torus_edges(Lengths lengths, RingStyle style) {
  return equarx::numerics::torus_edges(lengths, style == RingStyle::full_loop
                                                    ? equarx::numerics::full_loop_edges
                                                    : equarx::numerics::semi_loop_edges);
}

Program two_shot(std::uint32_t ranks) {
  return make_direct_exchange(Collective::all_reduce, ranks, kElements, ElementFormat::fp32,
                              exchange());
}

Program one_shot(std::uint32_t ranks) {
  return make_one_shot_all_reduce(ranks, kElements, ElementFormat::fp32, exchange());
}

Program recursive_doubling(std::size_t rounds) {
  return make_recursive_doubling(RankGrid(Lengths(rounds, 2)), kElements, ElementFormat::fp32,
                                 exchange());
}

}  // namespace

TEST_CASE(
    "independent inputs: a torus has [1 + sum (length - 1) / 2] times the error of one "
    "quantization") {
  for (const Lengths& lengths : {Lengths{4, 2}, {2, 4}, {3, 3}, {4, 4}, {2, 2, 2}, {4, 4, 4}})
    for (const RingStyle style : kBoth) {
      const RankGrid grid(lengths);
      CAPTURE(lengths, name(style));
      const double measured = nmse(torus(lengths, style));
      // Segments use the axes in different orders, which does not change the sum.
      CHECK(measured ==
            Approx(theory(grid.ranks(), torus_edges(lengths, style), true)).epsilon(0.05));
      if (style == RingStyle::semi_loop) continue;
      double factor = 1.0;
      for (const std::uint32_t length : lengths) factor += (length - 1) / 2.0;
      CHECK(measured == Approx(factor * once()).epsilon(0.05));
    }
}

TEST_CASE("independent inputs: a torus with one quantized phase has that phase's error only") {
  for (const RingStyle style : kBoth) {
    const Lengths lengths = {4, 4};
    CHECK(nmse(torus(lengths, style, true, {true, false})) ==
          Approx(theory(16, torus_edges(lengths, style), false)).epsilon(0.05));
    CHECK(nmse(torus(lengths, style, true, {false, true})) == Approx(once()).epsilon(0.05));
  }
}

TEST_CASE("independent inputs: recursive halving has log2(N) / 2 + 1 times the error") {
  for (const std::size_t rounds : {1U, 2U, 3U, 4U, 6U}) {
    CAPTURE(rounds);
    CHECK(nmse(torus(Lengths(rounds, 2), RingStyle::semi_loop, false)) ==
          Approx((static_cast<double>(rounds) / 2.0 + 1.0) * once()).epsilon(0.05));
  }
}

TEST_CASE("independent inputs: two-shot has 2 - 1 / N times the error, one-shot 1") {
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U}) {
    CAPTURE(ranks);
    CHECK(nmse(two_shot(ranks)) ==
          Approx(theory(ranks, equarx::numerics::direct_edges(ranks), true)).epsilon(0.05));
    CHECK(nmse(one_shot(ranks)) == Approx(once()).epsilon(0.05));
  }
}

TEST_CASE("independent inputs: recursive doubling has log2(N) times the error") {
  for (const std::size_t rounds : {1U, 2U, 3U, 4U}) {
    CAPTURE(rounds);
    const std::uint32_t ranks = 1U << rounds;
    const double measured = nmse(recursive_doubling(rounds));
    CHECK(measured == Approx(static_cast<double>(rounds) * once()).epsilon(0.05));
    CHECK(measured ==
          Approx(theory(ranks, equarx::numerics::recursive_doubling_edges(ranks), false))
              .epsilon(0.05));
  }
}

TEST_CASE("identical inputs: every algorithm has the error of one quantization") {
  const auto check = [](const Program& program) {
    CHECK(nmse(program, true) == Approx(once()).epsilon(0.03));
  };
  for (const RingStyle style : kBoth) {
    check(torus({4, 2}, style));
    check(torus({3, 3}, style));
    check(torus({4, 4, 4}, style));
    check(torus({2, 2, 2, 2}, style, false));
  }
  check(two_shot(8));
  check(one_shot(8));
  check(recursive_doubling(4));
}

TEST_CASE("an AllToAll has the error of one quantization, except for the rank's own shard") {
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    CAPTURE(ranks);
    const double share = (ranks - 1.0) / ranks;
    CHECK(nmse(make_direct_exchange(Collective::all_to_all, ranks, kElements, ElementFormat::fp32,
                                    exchange())) == Approx(share * once()).epsilon(0.05));
    CHECK(theory(ranks, equarx::numerics::direct_edges(ranks), false) ==
          Approx(share * once()).epsilon(1e-12));
  }
}

TEST_CASE("values that are only moved have the error of one quantization, over any distance") {
  RingOptions options =
      ring(RingStyle::full_loop, {true, true}, int8_blocks(kBlock), 1, 1, ElementFormat::fp32);
  options.collective = Collective::all_gather;
  CHECK(nmse(make_ring_program(RankGrid({4, 4}), kElements, ElementFormat::fp32, options)) ==
        Approx(once()).epsilon(0.05));
  CHECK(nmse(make_direct_exchange(Collective::all_gather, 4, kElements, ElementFormat::fp32,
                                  exchange())) == Approx(once()).epsilon(0.05));
  const BroadcastOptions broadcast{
      RingStyle::full_loop, int8_blocks(kBlock), {.minishards = 1, .microshards = 1}};
  CHECK(nmse(make_ring_broadcast(8, kElements, ElementFormat::fp32, broadcast)) ==
        Approx(once()).epsilon(0.05));
}

TEST_CASE("a ReduceScatter has the error of its messages, without an AllGather's") {
  RingOptions options =
      ring(RingStyle::full_loop, {true, true}, int8_blocks(kBlock), 1, 1, ElementFormat::fp32);
  options.collective = Collective::reduce_scatter;
  CHECK(nmse(make_ring_program(RankGrid({4, 4}), kElements, ElementFormat::fp32, options)) ==
        Approx(theory(16, torus_edges({4, 4}, RingStyle::full_loop), false)).epsilon(0.05));
  CHECK(nmse(make_direct_exchange(Collective::reduce_scatter, 8, kElements, ElementFormat::fp32,
                                  exchange())) ==
        Approx(theory(8, equarx::numerics::direct_edges(8), false)).epsilon(0.05));
}

}  // namespace equarx::error_theory_of_collectives_test
