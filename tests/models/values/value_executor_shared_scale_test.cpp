// Collectives with one scale for all ranks, compared with slow references and with theory.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/models/values/shared_scales.hpp"
#include "tests/support/reference_fp8.hpp"
#include "tests/support/reference_quickreduce.hpp"

namespace equarx::values::value_executor_shared_scale_test {
namespace {

using numerics::ElementFormat;
using testing::amax_of;
using testing::compute;
using testing::Computed;
using testing::inputs;
using testing::program_of;
using testing::Tensors;

constexpr numerics::BlockFormat kFp8{.element = ElementFormat::fp8_e4m3,
                                     .rule = numerics::ScaleRule::fp8lm};
constexpr numerics::BlockFormat kInt8{.element = ElementFormat::int8,
                                      .rule = numerics::ScaleRule::global_qsgd};

/// FP8-LM's cast of the tensors in units of the scale, by rank and element; and the scale.
struct Fp8Codes {
  std::vector<double> values = testing::fp8::kE4m3.values();
  std::vector<std::vector<double>> codes;
  float step = 1.0F;

  explicit Fp8Codes(const Tensors& tensors) {
    double power = std::ldexp(1.0, 100);
    while (double{amax_of(tensors)} * power > 448.0) power /= 2.0;
    const float factor = static_cast<float>(power) *
                         static_cast<float>(1.0 / std::sqrt(static_cast<double>(tensors.size())));
    step = 1.0F / factor;
    for (const auto& tensor : tensors) {
      auto& row = codes.emplace_back();
      for (const float value : tensor)
        row.push_back(testing::fp8::nearest(values, double{value * factor}));
    }
  }

  double add(double a, double b) const {
    return testing::fp8::nearest(values, testing::quickreduce::half(a + b));
  }
  float decoded(double sum) const { return static_cast<float>(sum) * step; }
};

TEST_CASE("FP8-LM up a binomial tree matches its source code, rounded to FP8 at every hop") {
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    const Tensors tensors = inputs(ranks, 1500);
    const Computed computed = compute(program_of("binomial-tree", kFp8, ranks, 1500), tensors);
    const Fp8Codes codes(tensors);
    for (std::size_t i = 0; i < 1500; ++i) {
      std::vector<double> sums;
      for (const auto& row : codes.codes) sums.push_back(row[i]);
      for (std::uint32_t half = ranks / 2; half > 0; half /= 2)
        for (std::uint32_t rank = 0; rank < half; ++rank)
          sums[rank] = codes.add(sums[rank], sums[rank + half]);
      REQUIRE(computed.result[i] == codes.decoded(sums[0]));
    }
  }
}

TEST_CASE(
    "FP8-LM on two ranks is the same with every algorithm, except for FP32 sums rounded once") {
  const Tensors tensors = inputs(2, 3000);
  const Fp8Codes codes(tensors);
  for (const std::string_view algorithm :
       {"ring", "torus", "halving-doubling", "binomial-tree", "two-shot"}) {
    CAPTURE(algorithm);
    const Computed computed = compute(program_of(algorithm, kFp8, 2, 3000), tensors);
    for (std::size_t i = 0; i < 3000; ++i)
      REQUIRE(computed.result[i] == codes.decoded(codes.add(codes.codes[0][i], codes.codes[1][i])));
  }
}

TEST_CASE("FP8-LM with all sums on one rank rounds them once") {
  for (const std::uint32_t ranks : {3U, 8U}) {
    const Tensors tensors = inputs(ranks, 2000);
    const Fp8Codes codes(tensors);
    for (const std::string_view algorithm : {"two-shot", "one-shot"}) {
      CAPTURE(algorithm, ranks);
      const Computed computed = compute(program_of(algorithm, kFp8, ranks, 2000), tensors);
      for (std::size_t i = 0; i < 2000; ++i) {
        double sum = 0.0;
        for (const auto& row : codes.codes) sum += row[i];
        REQUIRE(computed.result[i] == codes.decoded(testing::fp8::nearest(codes.values, sum)));
      }
    }
  }
}

TEST_CASE("Global-QSGD ends with the same bits, a multiple of its step, with every algorithm") {
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    const Tensors tensors = inputs(ranks, 4000);
    const float step = static_cast<float>(ranks) * amax_of(tensors) * (1.0F / 127.0F);
    std::vector<float> first;
    for (const std::string_view algorithm :
         {"binomial-tree", "two-shot", "one-shot", "recursive-doubling"}) {
      CAPTURE(algorithm, ranks);
      const Computed computed = compute(program_of(algorithm, kInt8, ranks, 4000), tensors);
      if (first.empty()) first = computed.result;
      CHECK(computed.result == first);
      for (std::size_t i = 0; i < computed.result.size(); ++i) {
        double exact = 0.0;
        for (const auto& tensor : tensors) exact += double{tensor[i]};
        const double code = double{computed.result[i]} / double{step};
        REQUIRE(std::fabs(code - std::round(code)) < 1e-4);
        REQUIRE(std::fabs(double{computed.result[i]} - exact) < ranks * double{step} * 1.0001);
      }
    }
  }
}

TEST_CASE("Global-QSGD's error is N step^2 / 6 as in theory, from 2 to 64 ranks") {
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U, 32U, 64U}) {
    CAPTURE(ranks);
    constexpr std::size_t kElements = 40'000;
    const Tensors tensors = inputs(ranks, kElements, numerics::Distribution::uniform);
    const double step = ranks * double{amax_of(tensors)} / 127.0;
    // Variance of a value that is a fraction f of a step above a code: f (1 - f), with the mean 1 /
    // 6 for uniform f. On a whole number of steps f is uniform; here f comes from the actual
    // values.
    double expected = 0.0;
    for (const auto& tensor : tensors)
      for (const float value : tensor) {
        const double f = double{value} / step - std::floor(double{value} / step);
        expected += f * (1.0 - f) * step * step / kElements;
      }
    CHECK(expected == Approx(ranks * step * step / 6.0).epsilon(0.04));
    const Computed computed = compute(program_of("ring", kInt8, ranks, kElements), tensors);
    double squares = 0.0;
    for (std::size_t i = 0; i < kElements; ++i) {
      double exact = 0.0;
      for (const auto& tensor : tensors) exact += double{tensor[i]};
      const double error = double{computed.result[i]} - exact;
      squares += error * error / kElements;
    }
    CHECK(squares == Approx(expected).epsilon(0.03));
  }
}

TEST_CASE("Global-QSGD is unbiased over seeds") {
  const Tensors tensors = inputs(4, 300);
  const auto program = program_of("binomial-tree", kInt8, 4, 300);
  const double step = 4.0 * double{amax_of(tensors)} / 127.0;
  constexpr int kSeeds = 400;
  std::vector<double> mean(300);
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Computed computed = compute(program, tensors, static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < 300; ++i) mean[i] += double{computed.result[i]} / kSeeds;
  }
  // At most 4 x 1/4 step^2 per element; five standard deviations of the mean.
  for (std::size_t i = 0; i < 300; ++i) {
    double exact = 0.0;
    for (const auto& tensor : tensors) exact += double{tensor[i]};
    REQUIRE(std::fabs(mean[i] - exact) < 5.0 * step / std::sqrt(double{kSeeds}));
  }
}

TEST_CASE("sums out of range and values cast to zero are counted") {
  // Four ranks with the largest value everywhere: without headroom, every sum saturates.
  const Tensors same(4, std::vector<float>(64, 448.0F));
  numerics::BlockFormat post = kFp8;
  post.mu = {.of = numerics::Mu::Of::post_scaling};
  const Computed saturated = compute(program_of("binomial-tree", post, 4, 64), same);
  CHECK(saturated.values.quantized.clipped == 3 * 64);
  CHECK(saturated.result.front() == 448.0F);
  numerics::BlockFormat pre = kFp8;
  pre.mu = {.of = numerics::Mu::Of::pre_scaling};
  const Computed whole = compute(program_of("binomial-tree", pre, 4, 64), same);
  CHECK(whole.values.quantized.clipped == 0);
  CHECK(whole.result.front() == 4 * 448.0F);
  // A value of 2^-20 times the largest.
  Tensors small(2, std::vector<float>(64, 0x1p-20F));
  small[0][0] = 448.0F;
  const Computed flushed = compute(program_of("ring", kFp8, 2, 64), small);
  CHECK(flushed.values.quantized.flushed == 2 * 64 - 1);
}

TEST_CASE("int8 sums of four ranks with the same largest value may wrap, and are counted") {
  const Tensors same(
      // Codes 31.75: four of them sum to 128 in 0.75^4 of all cases.
      4, std::vector<float>(4096, 1.0F));
  const Computed computed = compute(program_of("binomial-tree", kInt8, 4, 4096), same);
  const auto wrapped = static_cast<double>(
      std::ranges::count_if(computed.result, [](float value) { return value < 0.0F; }));
  CHECK(wrapped / 4096.0 == Approx(std::pow(0.75, 4)).epsilon(0.1));
  CHECK(static_cast<double>(computed.values.quantized.clipped) == wrapped);
}

TEST_CASE("a shared scale covers the whole tensor even with a sample") {
  Tensors tensors = inputs(4, 100'000);
  tensors[2][99'999] = 1000.0F;
  std::vector<tensors::MemoryTensor> memory;
  for (const auto& tensor : tensors)
    memory.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
  const TensorSource source(std::move(memory), 100'000, ElementFormat::fp32);
  const auto program = program_of("ring", kInt8, 4, 100'000);
  const ValueResult part = execute(program, source, {.sample = 0.1});
  const ValueResult whole = execute(program, source);
  CHECK(part.sampled_fraction < 0.5);
  CHECK(part.against_exact.mse == Approx(whole.against_exact.mse).epsilon(0.1));
}

}  // namespace
}  // namespace equarx::values::value_executor_shared_scale_test
