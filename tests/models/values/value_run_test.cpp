#include "models/values/value_run.hpp"

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

}  // namespace
}  // namespace equarx::values::value_run_test
