// Errors of whole rings against models/numerics/errors/theory.hpp, which was not fitted to them.
#include <cmath>
#include <vector>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/errors/theory.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/error_theory.hpp"
#include "tests/support/rings.hpp"

namespace equarx::error_theory_of_rings_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;
using equarx::numerics::ErrorMetrics;
using equarx::numerics::InputSpec;
using equarx::numerics::ScaleFormat;
using equarx::numerics::ScaleLayout;

namespace {

constexpr double kInt8 = 127.0;
constexpr std::uint32_t kRanks[] = {2, 3, 4, 5, 8, 16};
constexpr Quantized kQuantizedPhases[] = {{true, true}, {true, false}, {false, true}};
// A scale group's squared amax varies by about 40 %, so 4000 groups give the mean to 0.7 %.
// Divisible by 16 x 2, 3 and 5 ranks x directions, and by 128 elements per scale: no group is
// short.
constexpr std::uint64_t kElements = 128 * 4320;
constexpr std::size_t kBlock = 128;

ErrorMetrics error_of(std::uint32_t ranks, std::uint64_t elements, ElementFormat tensor,
                      const RingOptions& options, bool identical_ranks = false) {
  const InputSpec inputs{.seed = 15, .identical_ranks = identical_ranks};
  return execute(make_ring_all_reduce(ranks, elements, tensor, options),
                 TensorSource(inputs, elements, tensor), {.threads = 1})
      .against_exact;
}

double theory(std::uint32_t ranks, RingStyle style, Quantized phases, std::uint64_t group) {
  equarx::numerics::Edges edges;
  if (phases.reduce_scatter)
    edges = style == RingStyle::full_loop ? equarx::numerics::full_loop_edges(ranks)
                                          : equarx::numerics::semi_loop_edges(ranks);
  return testing::allreduce_nmse(equarx::numerics::uniform_quantizer_nmse(group, kInt8), ranks,
                                 edges, phases.all_gather);
}

RingOptions int8_ring(RingStyle style, Quantized phases,
                      const BlockFormat& format = int8_blocks(kBlock)) {
  return ring(style, phases, format, 1, 1, ElementFormat::fp32);
}

}  // namespace

TEST_CASE("identical inputs: every ring has the error of one quantization") {
  const double once = equarx::numerics::uniform_quantizer_nmse(kBlock, kInt8);
  for (const std::uint32_t ranks : kRanks)
    for (const RingStyle style : kStyles)
      for (const Quantized phases : kQuantizedPhases) {
        CAPTURE(ranks, name(style), phases.reduce_scatter, phases.all_gather);
        const double nmse =
            error_of(ranks, kElements, ElementFormat::fp32, int8_ring(style, phases), true).nmse;
        // The owner's own term stays exact if the sum is not quantized for the AllGather.
        const double share = phases.all_gather ? 1.0 : (ranks - 1.0) / ranks;
        CHECK(nmse == Approx(once * share * share).epsilon(0.03));
      }
}

TEST_CASE("independent inputs: the error of a full loop of 8, as run by EQuARX") {
  // Strided scales over 128 registers, as in the paper.
  constexpr std::uint64_t kStrided = 8 * 2 * 128 * 1024;
  const double nmse = error_of(8, kStrided, ElementFormat::fp32,
                               int8_ring(RingStyle::full_loop, {true, true}, int8_strided()))
                          .nmse;
  CHECK(nmse == Approx(theory(8, RingStyle::full_loop, {true, true}, 128)).epsilon(0.03));
}

TEST_CASE("independent inputs: the error of every ring follows the theory") {
  for (const std::uint32_t ranks : kRanks)
    for (const RingStyle style : kStyles)
      for (const Quantized phases : kQuantizedPhases) {
        CAPTURE(ranks, name(style), phases.reduce_scatter, phases.all_gather);
        const double nmse =
            error_of(ranks, kElements, ElementFormat::fp32, int8_ring(style, phases)).nmse;
        CHECK(nmse == Approx(theory(ranks, style, phases, kBlock)).epsilon(0.05));
      }
}

TEST_CASE("fewer elements in a group reduce the error as in theory") {
  for (const std::size_t block : {8, 32, 1024}) {
    const double nmse = error_of(4, 1024 * 512, ElementFormat::fp32,
                                 int8_ring(RingStyle::full_loop, {true, true}, int8_blocks(block)))
                            .nmse;
    CHECK(nmse == Approx(theory(4, RingStyle::full_loop, {true, true}, block)).epsilon(0.05));
  }
}

TEST_CASE("a bf16 tensor adds the errors of the bf16 ring and of its rounded result") {
  constexpr std::uint32_t kRing = 8;
  const auto bf16_ring = [](Quantized phases) {
    return ring(RingStyle::full_loop, phases, int8_blocks(kBlock), 1, 1);
  };
  const double plain_ring =
      error_of(kRing, kElements, ElementFormat::bf16, bf16_ring({false, false})).nmse;
  // An FP32 ring of bf16 tensors only has the error of rounding its result.
  const double rounding =
      error_of(kRing, kElements, ElementFormat::bf16,
               ring(RingStyle::full_loop, {false, false}, {}, 1, 1, ElementFormat::fp32))
          .nmse;
  const double quantizing = theory(kRing, RingStyle::full_loop, {false, true}, kBlock);
  // Large enough that omitting them would be detected.
  REQUIRE(plain_ring + rounding > 0.1 * quantizing);
  const double gather =
      error_of(kRing, kElements, ElementFormat::bf16, bf16_ring({false, true})).nmse;
  CHECK(gather == Approx(quantizing + plain_ring + rounding).epsilon(0.04));
}

TEST_CASE("FP8's error grows with fewer mantissa bits, within half a step per quantization") {
  const auto nmse = [](ElementFormat code, RingStyle style) {
    const BlockFormat format{code, true, ScaleFormat::fp32, ScaleLayout::contiguous, kBlock};
    return error_of(8, kElements, ElementFormat::fp32, int8_ring(style, {true, true}, format)).nmse;
  };
  for (const RingStyle style : kStyles) {
    // Equivalent number of quantizations of full-size sums over all hops, by the theory of uniform
    // codes.
    const double quantizations = theory(8, style, {true, true}, kBlock) /
                                 equarx::numerics::uniform_quantizer_nmse(kBlock, kInt8);
    const double e4m3 = nmse(ElementFormat::fp8_e4m3, style);
    const double e5m2 = nmse(ElementFormat::fp8_e5m2, style);
    CHECK(e4m3 > nmse(ElementFormat::int8, style));
    CHECK(e5m2 > e4m3);
    // Half a step is at most 2^-(mantissa bits + 1) of a value; errors are uniform up to it.
    CHECK(e4m3 < quantizations * 0x1p-8 / 3.0);
    CHECK(e5m2 < quantizations * 0x1p-6 / 3.0);
    CHECK(e4m3 > quantizations * 0x1p-8 / 12.0);
    CHECK(e5m2 > quantizations * 0x1p-6 / 12.0);
  }
}

TEST_CASE("FP8 with FP8 sums has a larger error than FP8 on the wire only") {
  const BlockFormat scaled{ElementFormat::fp8_e4m3, true, ScaleFormat::fp32,
                           ScaleLayout::contiguous, kBlock};
  const auto travels = int8_ring(RingStyle::full_loop, {true, true}, scaled);
  const auto sums = ring(RingStyle::full_loop, {false, false}, {}, 1, 1, ElementFormat::fp8_e4m3);
  CHECK(error_of(8, kElements, ElementFormat::fp32, sums).nmse >
        error_of(8, kElements, ElementFormat::fp32, travels).nmse);
}

TEST_CASE("rounding to nearest even has no bias") {
  const ErrorMetrics error =
      error_of(8, kElements, ElementFormat::fp32, int8_ring(RingStyle::full_loop, {true, true}));
  const double sigma = std::sqrt(error.mse / static_cast<double>(kElements));
  CHECK(std::abs(error.mean_signed_error) < 5.0 * sigma);
}

}  // namespace equarx::error_theory_of_rings_test
