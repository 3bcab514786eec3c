#include "models/values/value_executor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/collectives/traffic.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"
#include "tests/support/scalar_ring.hpp"

namespace equarx::value_executor_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::Distribution;
using equarx::numerics::ElementFormat;
using equarx::numerics::ErrorMetrics;
using equarx::numerics::InputSpec;
using equarx::numerics::ScaleFormat;
using equarx::numerics::ScaleLayout;

namespace {

// A ring on synthetic tensors.
struct Case {
  std::uint32_t ranks;
  std::uint64_t elements;
  ElementFormat tensor;
  RingOptions options;
  InputSpec inputs{.seed = 12};

  Program program() const { return make_ring_all_reduce(ranks, elements, tensor, options); }
  TensorSource source() const { return {inputs, elements, tensor}; }
};

std::string describe(const Case& ring) {
  const auto format = [](const BlockFormat& format) {
    return std::string(name(format.element)) +
           (format.scaled ? std::string("/") + std::string(name(format.scale)) + "/" +
                                std::string(name(format.layout)) + std::to_string(format.block)
                          : "");
  };
  return std::to_string(ring.ranks) + " ranks, " + std::to_string(ring.elements) + " " +
         std::string(name(ring.tensor)) + ", " + std::string(name(ring.options.style)) + ", " +
         format(ring.options.reduce_scatter) + ", " + format(ring.options.all_gather) + ", " +
         std::to_string(ring.options.cut.minishards.value()) + "x" +
         std::to_string(ring.options.cut.microshards.value());
}

std::vector<float> values_of(const ResultTensor& tensor) {
  std::vector<float> values(tensor.elements());
  tensor.read(0, values);
  return values;
}

bool same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  return one.size() == other.size() &&
         std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

bool same_bits(const ErrorMetrics& one, const ErrorMetrics& other) {
  const auto bits = [](const ErrorMetrics& m) {
    return std::vector<double>{
        m.mse, m.nmse, m.sqnr_db, m.max_abs_error, m.mean_signed_error, m.cosine_similarity};
  };
  return one.count == other.count && bits(one) == bits(other);
}

// Checks everything that must hold for any ring: the oracle's bits, and bytes as planned.
void check_against_oracle(const Case& ring) {
  INFO(describe(ring));
  const Program program = ring.program();
  const TensorSource source = ring.source();
  ResultTensor result(ring.elements, ring.tensor);
  const ValueResult values = execute(program, source, {.threads = 1, .result = &result});
  REQUIRE(same_bits(values_of(result), scalar_ring_all_reduce(source, ring.ranks, ring.options)));
  REQUIRE(values.ranks_identical);
  REQUIRE(values.against_exact.count == ring.elements);
  const auto planned = sent_bytes(program);
  REQUIRE(values.sent_bytes.size() == planned.size());
  for (std::size_t channel = 0; channel < planned.size(); ++channel)
    REQUIRE(values.sent_bytes[channel] == ring.ranks * planned[channel]);
  REQUIRE(values.received_bytes == values.sent_bytes);
}

constexpr ElementFormat kCodes[] = {ElementFormat::int8, ElementFormat::fp8_e4m3,
                                    ElementFormat::fp8_e5m2};
constexpr Quantized kQuantizedPhases[] = {{true, true}, {true, false}, {false, true}};

}  // namespace

TEST_CASE("quantized rings have the oracle's bits: ranks, styles, phases") {
  for (const std::uint32_t ranks : {2, 3, 4, 5, 8})
    for (const RingStyle style : kStyles)
      for (const Quantized phases : kQuantizedPhases)
        check_against_oracle({ranks,
                              8009,
                              ElementFormat::bf16,
                              ring(style, phases, int8_strided(), 2, 3),
                              {.seed = ranks}});
}

TEST_CASE("quantized rings have the oracle's bits: formats, layouts, scales, tensors") {
  for (const ElementFormat code : kCodes)
    for (const ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16})
      for (const std::size_t block : {0, 32, 7})  // 0: strided
        for (const ElementFormat tensor : {ElementFormat::bf16, ElementFormat::fp32})
          for (const RingStyle style : kStyles)
            for (const Quantized phases : kQuantizedPhases) {
              const auto layout = block == 0 ? ScaleLayout::strided : ScaleLayout::contiguous;
              const BlockFormat format{code, true, scale, layout, block};
              const ElementFormat otherwise =
                  block == 7 ? ElementFormat::fp32 : ElementFormat::bf16;
              check_against_oracle({3, 7919, tensor, ring(style, phases, format, 2, 2, otherwise)});
            }
}

TEST_CASE("rings of NVFP4 have the oracle's bits and send the scale of each minishard") {
  const BlockFormat format{ElementFormat::fp4_e2m1,
                           true,
                           ScaleFormat::e4m3,
                           ScaleLayout::contiguous,
                           16,
                           equarx::numerics::Rounding::nearest,
                           true};
  for (const RingStyle style : kStyles)
    for (const Quantized phases : kQuantizedPhases)
      check_against_oracle({4, 8009, ElementFormat::bf16, ring(style, phases, format, 2, 3)});
}

TEST_CASE("plain rings have the oracle's bits") {
  for (const std::uint32_t ranks : {2, 3, 4, 5, 8})
    for (const RingStyle style : kStyles)
      for (const ElementFormat tensor : {ElementFormat::bf16, ElementFormat::fp32})
        for (const ElementFormat wire : {ElementFormat::bf16, ElementFormat::fp32,
                                         ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2})
          check_against_oracle({ranks, 1009, tensor, ring(style, {false, false}, {}, 1, 3, wire)});
}

TEST_CASE("rings of fp16 and FP8 tensors have the oracle's bits, plain and quantized") {
  for (const ElementFormat tensor :
       {ElementFormat::fp16, ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2})
    for (const RingStyle style : kStyles) {
      check_against_oracle({5, 1009, tensor, ring(style, {false, false}, {}, 1, 3, tensor)});
      check_against_oracle({4, 8009, tensor, ring(style, {true, true}, int8_strided(), 2, 3)});
      check_against_oracle(
          {4, 8009, tensor, ring(style, {false, true}, int8_blocks(32), 2, 3, tensor)});
    }
}

TEST_CASE("phases in different formats have the oracle's bits") {
  const BlockFormat e4m3{ElementFormat::fp8_e4m3, true, ScaleFormat::bf16, ScaleLayout::strided, 0};
  const BlockFormat e4m3_cast = plain(ElementFormat::fp8_e4m3);
  for (const RingStyle style : kStyles)
    for (const BlockFormat& reduce : {int8_strided(), int8_blocks(32), e4m3, e4m3_cast})
      for (const BlockFormat& gather : {int8_strided(), int8_blocks(7), e4m3, e4m3_cast})
        check_against_oracle({4,
                              9001,
                              ElementFormat::bf16,
                              {.style = style,
                               .reduce_scatter = reduce,
                               .all_gather = gather,
                               .cut = {.minishards = 1, .microshards = 3}}});
}

TEST_CASE("the pipeline's depth changes no bit unless it changes the scale groups") {
  for (const RingStyle style : kStyles) {
    const auto result = [&](std::uint32_t microshards) {
      const Case ring_case{5, 30'011, ElementFormat::bf16,
                           ring(style, {true, true}, int8_strided(), 2, microshards)};
      ResultTensor tensor(ring_case.elements, ring_case.tensor);
      execute(ring_case.program(), ring_case.source(), {.threads = 1, .result = &tensor});
      return values_of(tensor);
    };
    REQUIRE(same_bits(result(1), result(8)));
  }
}

TEST_CASE("other distributions and identical ranks have the oracle's bits") {
  for (const Distribution distribution : {Distribution::uniform, Distribution::heavy_tailed})
    for (const bool identical : {false, true})
      for (const RingStyle style : kStyles)
        check_against_oracle({4,
                              3001,
                              ElementFormat::bf16,
                              ring(style, {true, true}, int8_blocks(32), 2, 2),
                              {distribution, 13, identical}});
}

TEST_CASE("tiny tensors: one element, and fewer elements than ranks") {
  for (const std::uint64_t elements : {1, 2, 3, 7, 8, 9, 17})
    for (const RingStyle style : kStyles)
      for (const Quantized phases : kQuantized) {
        check_against_oracle(
            {8, elements, ElementFormat::bf16, ring(style, phases, int8_strided(), 1, 1)});
        check_against_oracle(
            {2, elements, ElementFormat::fp32, ring(style, phases, int8_blocks(32), 1, 1)});
      }
}

TEST_CASE("tiny tensors can be compared with a baseline, including padding") {
  for (const ElementFormat tensor : {ElementFormat::bf16, ElementFormat::fp32}) {
    const Case one{8, 3, tensor, ring(RingStyle::full_loop, {false, false}, {}, 1, 1, tensor)};
    ResultTensor baseline(3, tensor);
    execute(one.program(), one.source(), {.threads = 1, .result = &baseline});
    const ValueResult again =
        execute(one.program(), one.source(), {.threads = 1, .baseline = &baseline});
    REQUIRE(again.against_baseline.has_value());
    REQUIRE(again.against_baseline->count == 3);
    REQUIRE(again.against_baseline->mse == 0.0);
  }
}

TEST_CASE("results do not depend on the number of threads") {
  const Case ring_case{5, 200'003, ElementFormat::bf16,
                       ring(RingStyle::semi_loop, {true, true}, int8_blocks(32), 7, 2)};
  const Program program = ring_case.program();
  const TensorSource source = ring_case.source();
  ResultTensor baseline(ring_case.elements, ring_case.tensor);
  const Program plain_program =
      make_ring_all_reduce(5, ring_case.elements, ElementFormat::bf16,
                           ring(RingStyle::full_loop, {false, false}, {}, 1, 1));
  execute(plain_program, source, {.threads = 1, .result = &baseline});
  const auto run = [&](unsigned threads, ResultTensor& result) {
    return execute(program, source, {.threads = threads, .baseline = &baseline, .result = &result});
  };
  ResultTensor expected(ring_case.elements, ring_case.tensor);
  const ValueResult one = run(1, expected);
  for (const unsigned threads : {0U, 2U, 5U, 1000U}) {
    CAPTURE(threads);
    ResultTensor result(ring_case.elements, ring_case.tensor);
    const ValueResult many = run(threads, result);
    REQUIRE(same_bits(values_of(result), values_of(expected)));
    REQUIRE(same_bits(many.against_exact, one.against_exact));
    REQUIRE(same_bits(many.against_baseline.value(), one.against_baseline.value()));
    REQUIRE(many.ranks_identical);
    REQUIRE(many.sent_bytes == one.sent_bytes);
    REQUIRE(many.received_bytes == one.received_bytes);
    REQUIRE(many.quantized == one.quantized);
  }
}

TEST_CASE("metrics describe the result") {
  const Case ring_case{4, 10'007, ElementFormat::bf16,
                       ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 2, 2)};
  const TensorSource source = ring_case.source();
  ResultTensor result(ring_case.elements, ring_case.tensor);
  ResultTensor zeros(ring_case.elements, ring_case.tensor);
  zeros.write(0, std::vector<float>(ring_case.elements));
  const ValueResult values =
      execute(ring_case.program(), source, {.threads = 1, .baseline = &zeros, .result = &result});
  const std::vector<float> computed = values_of(result);
  std::vector<double> exact(ring_case.elements);
  std::vector<float> input(ring_case.elements);
  for (std::uint32_t rank = 0; rank < ring_case.ranks; ++rank) {
    source.read(rank, 0, input);
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += double{input[i]};
  }
  double squared_error = 0.0;
  double squared_exact = 0.0;
  double squared_value = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    squared_error += std::pow(computed[i] - exact[i], 2);
    squared_exact += exact[i] * exact[i];
    squared_value += std::pow(computed[i], 2);
    largest = std::max(largest, std::abs(computed[i] - exact[i]));
  }
  const auto count = static_cast<double>(exact.size());
  REQUIRE(values.against_exact.mse == Approx(squared_error / count).epsilon(1e-10));
  REQUIRE(values.against_exact.nmse == Approx(squared_error / squared_exact).epsilon(1e-10));
  REQUIRE(values.against_exact.max_abs_error == largest);
  REQUIRE(values.against_baseline->mse == Approx(squared_value / count).epsilon(1e-10));
}

TEST_CASE("without a baseline there is no comparison") {
  const Case ring_case{2, 100, ElementFormat::bf16,
                       ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 1, 1)};
  REQUIRE_FALSE(execute(ring_case.program(), ring_case.source()).against_baseline.has_value());
}

TEST_CASE("every quantization is counted") {
  const auto counts = [](Quantized phases, ElementFormat otherwise) {
    const Case ring_case{8, 16'000, ElementFormat::bf16,
                         ring(RingStyle::full_loop, phases, int8_blocks(100), 1, 1, otherwise)};
    return execute(ring_case.program(), ring_case.source(), {.threads = 1});
  };
  // 7 hops of a ReduceScatter and one encoding in the AllGather, for every element.
  REQUIRE(counts({true, true}, ElementFormat::bf16).quantized.elements == 8 * 16'000);
  REQUIRE(counts({true, false}, ElementFormat::bf16).quantized.elements == 7 * 16'000);
  REQUIRE(counts({false, true}, ElementFormat::bf16).quantized.elements == 16'000);
  const Case uncounted{8, 16'000, ElementFormat::bf16,
                       ring(RingStyle::full_loop, {true, true}, int8_blocks(100), 1, 1)};
  REQUIRE(execute(uncounted.program(), uncounted.source(), {.counts = false}).quantized.elements ==
          0);
  const ValueResult plain_ring = counts({false, false}, ElementFormat::fp8_e4m3);
  REQUIRE(plain_ring.quantized.elements == 0);
  REQUIRE(plain_ring.clipped_fraction() == 0.0);
  REQUIRE(plain_ring.flushed_fraction() == 0.0);
}

TEST_CASE("fractions of clipped and flushed elements") {
  ValueResult result;
  result.quantized = {.elements = 200, .clipped = 3, .flushed = 50, .non_finite = 0};
  REQUIRE(result.clipped_fraction() == Approx(0.015));
  REQUIRE(result.flushed_fraction() == Approx(0.25));
  // Amax scales clip nothing. A step is amax / 127, so |x| below amax / 254 becomes zero: one in
  // 254 of values uniform on [-amax, amax).
  const Case ring_case{
      2,
      1 << 18,
      ElementFormat::fp32,
      ring(RingStyle::full_loop, {false, true}, int8_blocks(1024), 1, 1, ElementFormat::fp32),
      {Distribution::uniform, 14, true}};
  const ValueResult values = execute(ring_case.program(), ring_case.source(), {.threads = 1});
  REQUIRE(values.quantized.clipped == 0);
  REQUIRE(values.quantized.non_finite == 0);
  REQUIRE(values.flushed_fraction() == Approx(1.0 / 254).epsilon(0.15));  // five sigma
}

TEST_CASE("a plain FP32 ring is exact up to FP32 rounding, a bf16 ring up to bf16 rounding") {
  const auto nmse = [](ElementFormat wire) {
    const Case ring_case{8, 100'000, ElementFormat::fp32,
                         ring(RingStyle::full_loop, {false, false}, {}, 1, 1, wire)};
    return execute(ring_case.program(), ring_case.source(), {.threads = 1}).against_exact.nmse;
  };
  // Half a step is at most 2^-24 of a value in FP32 and 2^-8 / 2 in bf16; the message of hop k has
  // k / 8 of the result's power, and the first one is rounded because the tensor is not bf16.
  REQUIRE(nmse(ElementFormat::fp32) < 4.5 * 0x1p-48);
  REQUIRE(nmse(ElementFormat::fp32) > 0.0);
  REQUIRE(nmse(ElementFormat::bf16) < 4.5 * 0x1p-18);
  REQUIRE(nmse(ElementFormat::bf16) > 4.5 * 0x1p-18 / 10.0);
}

TEST_CASE("an exception in any thread reaches the caller, and no thread outlives it") {
  const Case ring_case{4, 100'000, ElementFormat::bf16,
                       ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 8, 1)};
  const Program program = ring_case.program();
  const TensorSource wrong(equarx::numerics::InputSpec{}, ring_case.elements, ElementFormat::int8);
  for (const unsigned threads : {1U, 4U})
    REQUIRE_THROWS_WITH(execute(program, wrong, {.threads = threads}),
                        ContainsSubstring("is not a tensor type"));
}

TEST_CASE("a format without meaning is refused") {
  RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 1, 1);
  options.all_gather = {.element = ElementFormat::bf16, .scaled = true};
  const Case ring_case{2, 100, ElementFormat::bf16, options};
  REQUIRE_THROWS_AS(execute(ring_case.program(), ring_case.source()), std::invalid_argument);
}

TEST_CASE("a result is stored in the tensor's type") {
  const std::vector<float> values = {1.0F, 1.0F + 0x1p-10F, -3.5F};
  for (const ElementFormat format : {ElementFormat::fp32, ElementFormat::bf16}) {
    ResultTensor tensor(10, format);
    REQUIRE(tensor.elements() == 10);
    tensor.write(7, values);
    std::vector<float> read(4);
    tensor.read(6, read);
    const float kept = format == ElementFormat::fp32 ? values[1] : 1.0F;
    REQUIRE(read == std::vector<float>{0.0F, 1.0F, kept, -3.5F});
  }
}

TEST_CASE("there is always at least one thread") { REQUIRE(default_threads() >= 1); }

TEST_CASE("a sample computes the same windows for every program and reports its size") {
  constexpr std::uint64_t kElements = 1 << 20;
  const Case quantized{4, kElements, ElementFormat::bf16,
                       ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 32, 2)};
  const Case baseline{4, kElements, ElementFormat::bf16,
                      ring(RingStyle::semi_loop, {false, false}, int8_blocks(32), 16, 4)};
  const TensorSource source = quantized.source();
  ResultTensor result(kElements, ElementFormat::bf16);
  const ValueResult of_baseline =
      execute(baseline.program(), source, {.result = &result, .sample = 0.25});
  REQUIRE(of_baseline.computed_elements > kElements / 5);
  REQUIRE(of_baseline.computed_elements < kElements / 3);
  const ValueResult part =
      execute(quantized.program(), source, {.baseline = &result, .sample = 0.25});
  const ValueResult whole = execute(quantized.program(), source, {});
  REQUIRE(whole.computed_elements == kElements);
  REQUIRE(part.against_baseline->count > part.computed_elements / 2);
  REQUIRE(part.sent_bytes == part.received_bytes);
  REQUIRE(part.sent_bytes[0] < whole.sent_bytes[0] / 2);
  REQUIRE(part.against_exact.nmse == Approx(whole.against_exact.nmse).epsilon(0.05));
}

}  // namespace equarx::value_executor_test
