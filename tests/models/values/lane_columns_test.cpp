#include "models/values/lane_columns.hpp"

#include <vector>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/with_arithmetic.hpp"
#include "models/values/joint_execution.hpp"
#include "models/values/lanes.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/models/values/same_results.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::lane_columns_test {
namespace {

using collectives::Collective;
using collectives::Program;
using collectives::RankGrid;
using collectives::RingStyle;
using numerics::BlockFormat;
using numerics::ElementFormat;
using numerics::kRegisterElements;
using testing::Quantized;

constexpr std::uint64_t kElements = 4 * (5 * kPartElements + 5008) + 3;

BlockFormat strided(ElementFormat element,
                    numerics::ScaleFormat scale = numerics::ScaleFormat::fp32) {
  return {.element = element, .scaled = true, .scale = scale};
}

collectives::RingOptions options_of(const BlockFormat& format, Quantized phases,
                                    RingStyle style = RingStyle::full_loop) {
  return testing::ring(style, phases, format, 1, 3);
}

Program ring_of(const BlockFormat& format, Quantized phases = {true, true}) {
  return testing::make_ring_all_reduce(4, kElements, ElementFormat::bf16,
                                       options_of(format, phases));
}

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const ElementFormat element :
       {ElementFormat::int8, ElementFormat::fp8_e4m3, ElementFormat::int4, ElementFormat::fp6_e2m3})
    for (const Quantized phases : testing::kQuantized)
      if (phases.reduce_scatter || phases.all_gather)
        all.push_back(ring_of(strided(element), phases));
  all.push_back(ring_of(strided(ElementFormat::mxint8, numerics::ScaleFormat::e8m0)));
  for (const RingStyle style : testing::kStyles)
    for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
      collectives::RingOptions options =
          options_of(strided(ElementFormat::int8), {true, true}, style);
      options.collective = collective;
      all.push_back(collectives::make_ring_program(
          RankGrid({2, 4}), 32 * kRegisterElements * 51 - 7, ElementFormat::bf16, options));
      options.all_gather = testing::plain(ElementFormat::bf16);
      all.push_back(collectives::make_ring_program(RankGrid({2, 2, 2}), 8 * kRegisterElements * 90,
                                                   ElementFormat::bf16, options));
    }
  const collectives::ExchangeOptions exchange{
      strided(ElementFormat::int8), strided(ElementFormat::int4), {1, 2}};
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter})
    all.push_back(
        collectives::make_direct_exchange(collective, 4, kElements, ElementFormat::bf16, exchange));
  all.push_back(
      collectives::make_one_shot_all_reduce(3, kElements / 3, ElementFormat::bf16, exchange));
  all.push_back(collectives::make_recursive_doubling(RankGrid({2, 2}), kElements / 3,
                                                     ElementFormat::bf16, exchange));
  return all;
}

std::uint64_t fewest_columns(const Program& program) {
  std::uint64_t fewest = kRegisterElements;
  const LaneTable table(program);
  for (const Lane& lane : table.lanes()) fewest = std::min(fewest, lane.columns);
  return fewest;
}

TensorSource source_of(const Program& program) {
  return {numerics::InputSpec{.seed = 9}, program.partition.elements(), ElementFormat::bf16};
}

/// `whole`: traced, since traces are of consecutive elements.
ValueResult computed(const Program& program, bool whole, std::vector<float>& values) {
  ResultTensor result(program.partition.elements(), ElementFormat::fp32);
  const ValueResult outcome =
      execute(program, source_of(program), {.threads = 2, .result = &result, .contract = whole});
  values.resize(program.partition.elements());
  result.read(0, values);
  return outcome;
}

TEST_CASE("values, errors, counts and bytes by columns are those of whole lanes, bit for bit") {
  for (const Program& program : programs()) {
    REQUIRE(fewest_columns(program) < kRegisterElements);
    std::vector<float> columns;
    std::vector<float> whole;
    const ValueResult one = computed(program, false, columns);
    check_same(one, computed(program, true, whole));
    CHECK(columns == whole);
    CHECK(one.sent_bytes == one.received_bytes);
  }
}

TEST_CASE("columns of a sample are those of whole lanes, and windows have their values") {
  const Program program = testing::make_ring_all_reduce(
      4, 32 * kElements, ElementFormat::bf16,
      testing::ring(RingStyle::full_loop, {true, true}, strided(ElementFormat::int8), 16, 2));
  REQUIRE(fewest_columns(program) < kRegisterElements);
  const TensorSource source = source_of(program);
  check_same(execute(program, source, {.sample = 0.05}),
             execute(program, source, {.sample = 0.05, .contract = true}));
  Windows windows{{{70'000, 70'500}, {32 * kElements - 9, 32 * kElements}}, {}};
  Windows whole = windows;
  execute(program, source, {.windows = &windows});
  execute(program, source, {.windows = &whole, .contract = true});
  CHECK(windows.values == whole.values);
}

TEST_CASE("results by columns are compared with a baseline, and computed jointly") {
  const Program baseline = ring_of(testing::plain(ElementFormat::bf16));
  const Program program = ring_of(strided(ElementFormat::int8));
  const TensorSource source = source_of(program);
  ResultTensor expected(kElements, ElementFormat::bf16);
  execute(baseline, source, {.result = &expected});
  const ValueResult alone = execute(program, source, {.baseline = &expected, .contract = true});
  for (const std::uint64_t most_kept : {std::uint64_t{0}, std::uint64_t{8} << 20}) {
    ResultTensor jointly(kElements, ElementFormat::bf16);
    const std::vector<Execution> both = {{&baseline, {.result = &jointly}},
                                         {&program, {.baseline = &jointly}}};
    const std::vector<ValueResult> results =
        execute_jointly(both, source, {.threads = 2, .most_kept = most_kept});
    check_same(results[1], alone);
    CHECK(results[1].against_baseline->mse == alone.against_baseline->mse);
  }
}

TEST_CASE("a residual is read by columns, too") {
  const std::uint64_t elements = kElements / 3;
  const Program plain = collectives::make_one_shot_all_reduce(
      3, elements, ElementFormat::bf16,
      {strided(ElementFormat::int8), strided(ElementFormat::int8), {1, 2}});
  const Program program =
      collectives::with_arithmetic(plain, {.residual = collectives::Residual::before});
  REQUIRE(fewest_columns(program) < kRegisterElements);
  const TensorSource residual(numerics::InputSpec{.seed = 4}, elements, ElementFormat::bf16);
  const ValueResult without = execute(plain, source_of(plain));
  const auto with = [&](bool contract) {
    return execute(program, source_of(program), {.residual = &residual, .contract = contract});
  };
  CHECK(with(false).against_exact.mse == with(true).against_exact.mse);
  CHECK(with(false).against_exact.mse != without.against_exact.mse);
}

TEST_CASE("programs with other groups, roundings or rows have no columns") {
  CHECK(divides_into_columns(ring_of(strided(ElementFormat::int8))));
  CHECK(divides_into_columns(ring_of(strided(ElementFormat::int8), {false, true})));
  const auto divides = [](const BlockFormat& format) {
    return divides_into_columns(ring_of(format));
  };
  CHECK_FALSE(divides(testing::plain(ElementFormat::bf16)));
  CHECK_FALSE(divides(testing::int8_blocks(32)));
  BlockFormat format = strided(ElementFormat::int8);
  format.rounding = numerics::Rounding::stochastic;
  CHECK_FALSE(divides(format));
  format = strided(ElementFormat::fp4_e2m1, numerics::ScaleFormat::e4m3);
  CHECK(divides(format));
  format.tensor_scale = true;
  CHECK_FALSE(divides(format));
  Program program = ring_of(strided(ElementFormat::int8));
  program.rotated = true;
  CHECK_FALSE(divides_into_columns(program));
  program.rotated = false;
  program.collective = Collective::all_gather;
  CHECK_FALSE(divides_into_columns(program));
}

TEST_CASE("minishards may begin within a row, and columns end within a byte") {
  // Segments have different sizes, and chunks of the second axis begin anywhere.
  const auto torus = [](ElementFormat element, std::uint64_t elements) {
    collectives::RingOptions options = options_of(strided(element), {true, true});
    options.cut.minishards = 3;
    return collectives::make_ring_program(RankGrid({2, 4}), elements, ElementFormat::bf16, options);
  };
  for (const std::uint64_t elements : {3'000'017U, 2'222'222U})
    for (const ElementFormat element :
         {ElementFormat::int8, ElementFormat::int4, ElementFormat::fp6_e2m3}) {
      const Program program = torus(element, elements);
      REQUIRE(fewest_columns(program) < kRegisterElements);
      std::vector<float> one;
      std::vector<float> other;
      check_same(computed(program, false, one), computed(program, true, other));
      CHECK(one == other);
    }
}

TEST_CASE("small lanes have all columns, and larger ones fewer, at least the granularity") {
  const auto columns = [](std::uint32_t ranks, std::uint64_t lane) {
    const Program program = testing::make_ring_all_reduce(
        ranks, 2 * ranks * lane, ElementFormat::bf16,  // in two segments
        testing::ring(RingStyle::full_loop, {true, true}, strided(ElementFormat::int8), 1, 1));
    return fewest_columns(program);
  };
  CHECK(columns(4, kPartElements) == kRegisterElements);
  CHECK(columns(4, 2 * kPartElements) == 512);
  CHECK(columns(4, 16 * kPartElements) == 256);
  CHECK(columns(64, 16 * kPartElements) == 256);
  CHECK(columns(256, kPartElements) == 256);
  CHECK(columns(256, 16 * kPartElements) == 64);
  CHECK(columns(256, 256 * kPartElements) == numerics::kFewestColumns);
}

TEST_CASE("memory is that of columns, and of the result of a lane") {
  const Program program = testing::make_ring_all_reduce(
      8, 8 * 16 * kPartElements, ElementFormat::bf16,
      testing::ring(RingStyle::full_loop, {true, true}, strided(ElementFormat::int8), 1, 1));
  const std::uint64_t lane = 16 * kPartElements;
  CHECK(memory_bytes(program, 1) < 12 * lane + 3 * lane / 4 * 8 * sizeof(float));
}

}  // namespace
}  // namespace equarx::values::lane_columns_test
