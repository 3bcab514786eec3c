#include "models/values/range_trace.hpp"

#include <limits>
#include <vector>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/with_arithmetic.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"

namespace equarx::values::range_trace_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("conversions overflow, saturate and underflow") {
  RangeTrace trace;
  trace.start(1000, 5);
  const RangeTrace::Place place{collectives::Op::add, 3, 0};
  const std::vector<float> before = {1.0F, 500.0F, 1e-9F, 1e9F, kInf};
  const std::vector<float> after = {1.0F, 448.0F, 0.0F, kInf, kInf};
  trace.conversion(place, numerics::ElementFormat::fp8_e4m3, before, after);
  const RangeCounts& counts = trace.counts();
  CHECK(counts.saturations.count == 1);
  CHECK(counts.saturations.element == 1001);
  CHECK(counts.saturations.rank == 3);
  CHECK(counts.underflows.count == 1);
  CHECK(counts.underflows.element == 1002);
  CHECK(counts.overflows.count == 1);
  CHECK(counts.overflows.element == 1003);
  CHECK(counts.overflows.op == collectives::Op::add);
}

TEST_CASE("padding is not traced, and sums of infinite terms do not overflow") {
  RangeTrace trace;
  trace.start(0, 2);
  trace.sums({collectives::Op::reduce, 0, 1}, std::vector<float>{3e38F, 3e38F},
             std::vector<float>{3e38F, 3e38F}, std::vector<float>{kInf, kInf});
  CHECK(trace.counts().overflows.count == 1);
  trace.start(0, 2);
  trace.sums({collectives::Op::reduce, 0, 0}, std::vector<float>{kInf, 1.0F},
             std::vector<float>{1.0F, 2.0F}, std::vector<float>{kInf, 3.0F});
  CHECK(trace.counts().overflows.count == 0);
  CHECK(trace.counts().largest_sum == 3.0F);
}

TEST_CASE("the first event of several units is the one of the lowest element") {
  RangeEvents events{.count = 2, .element = 50, .rank = 1, .op = collectives::Op::add};
  events += {.count = 1, .element = 7, .rank = 2, .op = collectives::Op::store};
  CHECK(events.count == 3);
  CHECK(events.element == 7);
  CHECK(events.rank == 2);
  events += {};
  CHECK(events.count == 3);
}

TEST_CASE("a collective reports the first sum that overflows FP16") {
  using numerics::ElementFormat;
  std::vector<float> values(100, 1.0F);
  values[42] = 40000.0F;
  const auto memory = [&] {
    return std::vector<tensors::MemoryTensor>(
        2, {tensors::FileType::fp32, std::as_bytes(std::span(values))});
  };
  const TensorSource source(memory(), 100, ElementFormat::fp16);
  const numerics::BlockFormat fp16{.element = ElementFormat::fp16};
  const collectives::Program program = collectives::make_one_shot_all_reduce(
      2, 100, ElementFormat::fp16, {.reduce_scatter = fp16, .all_gather = fp16});
  const ValueResult result = execute(program, source, {.threads = 1, .contract = true});
  CHECK(result.ranges.largest_input == 40000.0F);
  CHECK(result.ranges.largest_sum == 80000.0F);
  CHECK(result.ranges.overflows.element == 42);
  CHECK(result.ranges.overflows.op == collectives::Op::store);
  CHECK(result.ulps.elements == 100);
  CHECK(result.ulps.differing() == 0);  // the exact sum, rounded once, is Inf as well
  const ValueResult plain = execute(program, source, {.threads = 1});
  CHECK(plain.ranges.largest_input == 0.0F);
  CHECK(plain.ulps.elements == 0);
}

TEST_CASE("residuals that are added to the result overflow on every rank that has it") {
  using numerics::ElementFormat;
  constexpr std::uint32_t kRanks = 4;
  std::vector<float> values(64, 0.0F);
  values[42] = 10000.0F;
  std::vector<float> added(64, 0.0F);
  added[42] = 30000.0F;
  const auto source_of = [](const std::vector<float>& tensor, std::size_t ranks) {
    return TensorSource(std::vector<tensors::MemoryTensor>(
                            ranks, {tensors::FileType::fp32, std::as_bytes(std::span(tensor))}),
                        tensor.size(), ElementFormat::fp16);
  };
  const TensorSource source = source_of(values, kRanks);
  const TensorSource residual = source_of(added, 1);
  const numerics::BlockFormat fp16{.element = ElementFormat::fp16};
  const collectives::ExchangeOptions options{.reduce_scatter = fp16, .all_gather = fp16};
  const auto ranges_of = [&](const collectives::Program& program, collectives::Overflow overflow) {
    return execute(collectives::with_arithmetic(
                       program, {.overflow = overflow, .residual = collectives::Residual::after}),
                   source, {.threads = 1, .residual = &residual, .contract = true})
        .ranges;
  };
  const collectives::Program all =
      collectives::make_one_shot_all_reduce(kRanks, values.size(), ElementFormat::fp16, options);
  const RangeCounts ranges = ranges_of(all, collectives::Overflow::by_type);
  CHECK(ranges.largest_sum == 70000.0F);
  CHECK(ranges.overflows.count == kRanks);
  CHECK(ranges.overflows.element == 42);
  CHECK(ranges.overflows.op == collectives::Op::add_residual_after);
  CHECK(ranges_of(all, collectives::Overflow::saturate).saturations.count == kRanks);
  const collectives::Program scattered = collectives::make_direct_exchange(
      collectives::Collective::reduce_scatter, kRanks, values.size(), ElementFormat::fp16, options);
  CHECK(ranges_of(scattered, collectives::Overflow::by_type).overflows.count == 1);
}

}  // namespace equarx::values::range_trace_test
