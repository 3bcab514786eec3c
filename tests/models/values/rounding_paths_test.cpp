#include "models/values/rounding_paths.hpp"

#include <cmath>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/with_arithmetic.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::rounding_paths_test {
namespace {

using collectives::Collective;
using collectives::Program;
using numerics::ElementFormat;

constexpr numerics::BlockFormat kBf16{.element = ElementFormat::bf16};
constexpr numerics::BlockFormat kFp32{.element = ElementFormat::fp32};

double theory(const numerics::BlockFormat& format, std::uint64_t, std::uint32_t terms) {
  return format.scaled ? 1.0 : conversion_nmse(format.element, terms);
}

Program one_shot(std::uint32_t ranks, const collectives::Arithmetic& arithmetic = {}) {
  return collectives::with_arithmetic(
      collectives::make_one_shot_all_reduce(ranks, 1 << 15, ElementFormat::bf16,
                                            {.reduce_scatter = kBf16, .all_gather = kBf16}),
      arithmetic);
}

double computed_nmse(const Program& program) {
  const TensorSource source(numerics::InputSpec{.seed = 4}, program.partition.elements(),
                            program.tensor_format);
  return execute(program, source, {.threads = 1}).against_exact.nmse;
}

}  // namespace

TEST_CASE("a sum in FP32 is rounded once") {
  const RoundingPath path = rounding_path(one_shot(8), theory);
  CHECK(path.additions == 7);
  CHECK(path.conversions == 1);
  CHECK(path.encodings == 0);
  CHECK(path.steps.front().kind == Roundings::Kind::addition);
  CHECK(path.steps.front().format == kFp32);
  CHECK(path.steps.back().format == kBf16);
}

TEST_CASE("sums in the tensor's type are rounded at each addition, and not again") {
  const RoundingPath path = rounding_path(one_shot(8, {.accumulate = ElementFormat::bf16}), theory);
  CHECK(path.additions == 7);
  CHECK(path.conversions == 0);
  REQUIRE(path.steps.size() == 1);
  CHECK(path.steps.front() == Roundings{Roundings::Kind::addition, kBf16, 7});
}

TEST_CASE("a ring rounds at each hop, or once with FP32 on the wire") {
  const auto ring = [](const numerics::BlockFormat& sums) {
    return rounding_path(testing::make_ring_all_reduce(6, 1 << 14, ElementFormat::bf16,
                                                       {.style = collectives::RingStyle::full_loop,
                                                        .reduce_scatter = sums,
                                                        .all_gather = kBf16}),
                         theory);
  };
  CHECK(ring(kBf16).conversions == 5);
  CHECK(ring(kFp32).conversions == 1);
}

TEST_CASE("a quantized ring encodes at each hop, and once for the AllGather") {
  const RoundingPath path = rounding_path(
      testing::make_ring_all_reduce(4, 1 << 14, ElementFormat::bf16,
                                    testing::ring(collectives::RingStyle::full_loop, {true, true},
                                                  testing::int8_blocks(32), 2, 2)),
      theory);
  CHECK(path.encodings == 4);
  CHECK(path.conversions == 1);
  // (1 + 2 + 3) / 4 + 1 quantizations with an NMSE of 1 each (docs/numerics.md).
  CHECK(path.expected_nmse == Approx(2.5).epsilon(1e-4));
}

/// Computed over expected error of one-shot AllReduces.
double ratio(std::uint32_t ranks, const collectives::Arithmetic& arithmetic) {
  const Program program = one_shot(ranks, arithmetic);
  return computed_nmse(program) / rounding_path(program, theory).expected_nmse;
}

TEST_CASE("the expected error is the computed one of many terms that are rounded once") {
  CHECK(ratio(8, {}) == Approx(1.0).epsilon(0.03));
  CHECK(ratio(16, {}) == Approx(1.0).epsilon(0.03));
}

TEST_CASE("sums of few terms lose more than the theory of uniform errors, by less than a quarter") {
  // The sum of two values of one binade is exact or a tie, with a mean square of a half of
  // (ulp / 2)^2 rather than a third.
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U}) {
    const double rounded_always = ratio(ranks, {.accumulate = ElementFormat::bf16});
    CAPTURE(ranks, rounded_always);
    CHECK(rounded_always > 1.0);
    CHECK(rounded_always < 1.25);
  }
  CHECK(ratio(2, {}) > 1.1);
  CHECK(ratio(2, {}) < 1.25);
}

TEST_CASE("a format without a theory has no expected error") {
  const auto unknown = [](const numerics::BlockFormat&, std::uint64_t, std::uint32_t) {
    return std::nan("");
  };
  CHECK(std::isnan(rounding_path(one_shot(2), unknown).expected_nmse));
  CHECK(std::isnan(conversion_nmse(ElementFormat::int8)));
}

TEST_CASE("a conversion loses what rounding normal values loses") {
  for (const ElementFormat type : {ElementFormat::bf16, ElementFormat::fp16}) {
    const Program program = collectives::make_direct_exchange(
        Collective::all_gather, 2, 1 << 17, ElementFormat::fp32,
        {.reduce_scatter = {.element = type}, .all_gather = {.element = type}});
    CHECK(conversion_nmse(type) == Approx(computed_nmse(program)).epsilon(0.02));
  }
}

}  // namespace equarx::values::rounding_paths_test
