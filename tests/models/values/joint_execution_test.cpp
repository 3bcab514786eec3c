#include "models/values/joint_execution.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::joint_execution_test {
namespace {

using collectives::Program;
using collectives::RingStyle;
using numerics::ElementFormat;

constexpr std::uint64_t kElements = 300'000;
constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;

Program ring_of(std::uint32_t ranks, RingStyle style, const numerics::BlockFormat& format,
                std::uint32_t minishards) {
  return testing::make_ring_all_reduce(ranks, kElements, ElementFormat::bf16,
                                       testing::ring(style, {true, true}, format, minishards, 2));
}

/// Programs with common and with different borders of lanes.
std::vector<Program> programs() {
  return {ring_of(4, RingStyle::full_loop, testing::plain(ElementFormat::bf16), 1),
          ring_of(4, RingStyle::full_loop, testing::int8_strided(), 3),
          ring_of(4, RingStyle::semi_loop, testing::int8_blocks(32), 5)};
}

void check_same(const numerics::ErrorMetrics& one, const numerics::ErrorMetrics& other) {
  CHECK(one.count == other.count);
  CHECK(one.mse == other.mse);
  CHECK(one.max_abs_error == other.max_abs_error);
  CHECK(one.mean_signed_error == other.mean_signed_error);
}

void check_same(const ValueResult& one, const ValueResult& other) {
  check_same(one.against_exact, other.against_exact);
  REQUIRE(one.against_baseline.has_value() == other.against_baseline.has_value());
  if (one.against_baseline) check_same(*one.against_baseline, *other.against_baseline);
  CHECK(one.ranks_identical == other.ranks_identical);
  CHECK(one.sent_bytes == other.sent_bytes);
  CHECK(one.received_bytes == other.received_bytes);
  CHECK(one.quantized == other.quantized);
  CHECK(one.sampled_fraction == other.sampled_fraction);
}

/// Runs the programs jointly, or one after another; the first is the baseline of the others.
std::vector<ValueResult> results_of(bool jointly, double sample, unsigned threads,
                                    std::uint64_t most_kept = kMuch) {
  const std::vector<Program> all = programs();
  const TensorSource source(numerics::InputSpec{.seed = 5}, kElements, ElementFormat::bf16);
  ResultTensor baseline(kElements, ElementFormat::bf16);
  std::vector<Execution> executions;
  for (const Program& program : all) {
    ValueOptions options{.threads = threads, .sample = sample};
    if (executions.empty())
      options.result = &baseline;
    else
      options.baseline = &baseline;
    executions.push_back({&program, options});
  }
  if (jointly)
    return execute_jointly(executions, source, {.threads = threads, .most_kept = most_kept});
  std::vector<ValueResult> results;
  for (const Execution& one : executions)
    results.push_back(execute(*one.program, source, one.options));
  return results;
}

TEST_CASE("joint executions give the results of single ones, bit for bit") {
  for (const double sample : {1.0, 0.1}) {
    const std::vector<ValueResult> apart = results_of(false, sample, 1);
    for (const unsigned threads : {1U, 2U, 5U})
      for (const std::uint64_t most_kept : {std::uint64_t{0}, kMuch}) {
        const std::vector<ValueResult> together = results_of(true, sample, threads, most_kept);
        REQUIRE(together.size() == apart.size());
        for (std::size_t i = 0; i < apart.size(); ++i) check_same(together[i], apart[i]);
      }
  }
}

TEST_CASE("joint executions report their progress, and none has no result") {
  const Program program = programs().front();
  const TensorSource source(numerics::InputSpec{}, kElements, ElementFormat::bf16);
  std::vector<double> shares;
  const std::vector<Execution> twice(2, Execution{&program, {}});
  CHECK(execute_jointly(twice, source,
                        {.threads = 1, .watch = [&](double done) { shares.push_back(done); }})
            .size() == 2);
  CHECK_FALSE(shares.empty());
  CHECK(std::ranges::is_sorted(shares));
  CHECK(shares.back() < 1.0);
  CHECK(execute_jointly({}, source, {}).empty());
}

}  // namespace
}  // namespace equarx::values::joint_execution_test
