#include "models/values/value_run.hpp"

#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::value_run_test {
namespace {

using numerics::ElementFormat;

TEST_CASE("units cover the tensor in order, and may be computed in any order") {
  const collectives::Program program = unit_rings::ring_program(5000);
  const TensorSource source(numerics::InputSpec{}, 5000, ElementFormat::fp32);
  const ValueOptions options{.threads = 3};
  ValueRun run(program, source, options);
  CHECK(run.threads() == 3);
  REQUIRE(run.units() == 2 * 4 * 3);  // segments, ranks, minishards
  std::uint64_t end = 0;
  for (std::size_t unit = 0; unit < run.units(); ++unit) {
    CHECK(run.elements_of(unit).begin == end);
    end = run.elements_of(unit).end;
  }
  CHECK(end >= 5000);
  const auto worker = run.make_worker(source);
  for (std::size_t unit = run.units(); unit-- > 0;) run.compute(unit, *worker);
  const ValueResult result = run.result();
  const ValueResult expected = execute(program, source);
  CHECK(result.against_exact.mse == expected.against_exact.mse);
  CHECK(result.sent_bytes == expected.sent_bytes);
  CHECK(result.computed_elements == 5000);
}

TEST_CASE("a record takes one thread, and no sample") {
  const collectives::Program program = unit_rings::ring_program(500);
  const TensorSource source(numerics::InputSpec{}, 500, ElementFormat::fp32);
  ValueRecord record;
  const ValueOptions options{.threads = 3, .record = &record};
  CHECK(ValueRun(program, source, options).threads() == 1);
  const ValueOptions sampled{.sample = 0.5, .record = &record};
  CHECK_THROWS_AS(ValueRun(program, source, sampled), std::invalid_argument);
}

/// An AllReduce of two ranks whose first window has more elements than kLargeSample.
collectives::Program large_program(const numerics::BlockFormat& format) {
  constexpr std::uint64_t kElements = (kSampleWindows + 1) * kLargeSample;
  return testing::make_ring_all_reduce(
      2, kElements, ElementFormat::bf16,
      testing::ring(collectives::RingStyle::full_loop, {true, true}, format, 1, 1));
}

TEST_CASE("a small sample of a large tensor has few elements, whatever its lanes") {
  const TensorSource source(numerics::InputSpec{},
                            large_program(testing::plain(ElementFormat::bf16)).partition.elements(),
                            ElementFormat::bf16);
  for (const auto& format : {testing::plain(ElementFormat::bf16), testing::int8_blocks(32)}) {
    const collectives::Program program = large_program(format);
    CHECK(execute(program, source, {.sample = 1e-6}).computed_elements == kLargeSample);
    CHECK(execute(program, source, {.sample = 1.0 / 64}).computed_elements > 8 * kLargeSample);
  }
  const collectives::Program plain = large_program(testing::plain(ElementFormat::bf16));
  CHECK(execute(plain, source, {.sample = 0.0155}).computed_elements ==
        kPartElements *
            (static_cast<std::uint64_t>(0.0155 * 65 * kLargeSample) / kPartElements + 1));
}

TEST_CASE("a small sample of a tensor of small windows has whole units") {
  const collectives::Program program =
      testing::make_ring_all_reduce(2, 12 * kLargeSample, ElementFormat::bf16,
                                    testing::ring(collectives::RingStyle::full_loop, {true, true},
                                                  testing::int8_strided(), 1, 1));
  const TensorSource source(numerics::InputSpec{}, 12 * kLargeSample, ElementFormat::bf16);
  CHECK(execute(program, source, {.sample = 1e-6}).computed_elements == 3 * kLargeSample);
}

TEST_CASE("threads share the parts of few units, with the same bits") {
  for (const auto& format : {testing::plain(ElementFormat::bf16), testing::int8_blocks(32)}) {
    const collectives::Program program = large_program(format);
    const TensorSource source(numerics::InputSpec{}, program.partition.elements(),
                              ElementFormat::bf16);
    const ValueOptions sample{.threads = 1, .sample = 1e-6};
    REQUIRE(ValueRun(program, source, sample).units() == 1);
    const ValueResult one = execute(program, source, sample);
    for (const unsigned threads : {2U, 5U}) {
      const ValueResult several = execute(program, source, {.threads = threads, .sample = 1e-6});
      CHECK(several.computed_elements == one.computed_elements);
      CHECK(several.against_exact.mse == one.against_exact.mse);
      CHECK(several.against_exact.nmse == one.against_exact.nmse);
      CHECK(several.sent_bytes == one.sent_bytes);
      CHECK(several.quantized.elements == one.quantized.elements);
    }
  }
}

TEST_CASE("an exception of the watch ends all threads") {
  const collectives::Program program = large_program(testing::plain(ElementFormat::bf16));
  const TensorSource source(numerics::InputSpec{}, program.partition.elements(),
                            ElementFormat::bf16);
  const auto fail = [](double) { throw std::runtime_error("cancelled"); };
  CHECK_THROWS_AS(execute(program, source, {.threads = 3, .sample = 1e-6, .watch = fail}),
                  std::runtime_error);
}

TEST_CASE("bytes need not be counted") {
  const collectives::Program program = large_program(testing::int8_blocks(32));
  const TensorSource source(numerics::InputSpec{}, program.partition.elements(),
                            ElementFormat::bf16);
  const ValueResult counted = execute(program, source, {.sample = 1e-6});
  const ValueResult uncounted = execute(program, source, {.sample = 1e-6, .traffic = false});
  CHECK(counted.sent_bytes.front() > 0);
  CHECK(uncounted.sent_bytes == std::vector<std::uint64_t>(program.channels.size()));
  CHECK(uncounted.against_exact.mse == counted.against_exact.mse);
}

TEST_CASE("a small sample computes some columns of a lane") {
  const collectives::Program program = large_program(testing::int8_strided());
  const std::uint64_t elements = program.partition.elements();
  const TensorSource source(numerics::InputSpec{}, elements, ElementFormat::bf16);
  const LaneTable lanes(program);
  const Lane& lane = lanes.lanes().front();
  REQUIRE(lane.columns < numerics::kRegisterElements);
  const ValueResult some = execute(program, source, {.sample = 1e-6});
  CHECK(some.computed_elements == first_part(lane).size());
  // All columns are computed if their places matter.
  ResultTensor result(lane.range.size(), ElementFormat::bf16);
  const ValueResult all = execute(program, source, {.result = &result, .sample = 1e-6});
  CHECK(all.computed_elements == lane.range.size());
  double error = 0.0;
  double signal = 0.0;
  std::vector<float> values(3 * lane.columns);
  const auto [first, second, sum] = std::tuple(
      std::span(values).first(lane.columns), std::span(values).subspan(lane.columns, lane.columns),
      std::span(values).last(lane.columns));
  for (std::uint64_t row = 0; row < lane.range.size(); row += numerics::kRegisterElements) {
    source.read(0, row, first);
    source.read(1, row, second);
    result.read(row, sum);
    for (std::size_t i = 0; i < lane.columns; ++i) {
      const double exact = double{first[i]} + double{second[i]};
      error += (sum[i] - exact) * (sum[i] - exact);
      signal += exact * exact;
    }
  }
  CHECK(some.against_exact.nmse == Approx(error / signal).epsilon(1e-9));
}

}  // namespace
}  // namespace equarx::values::value_run_test
