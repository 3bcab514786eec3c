#include "models/numerics/errors/theory.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "tests/catch.hpp"
#include "tests/support/error_theory.hpp"

namespace equarx::theory_test {

using namespace equarx::numerics;
using equarx::testing::allreduce_nmse;
using equarx::testing::mxint8_quantizer_nmse;

namespace {

// Quantizes and dequantizes, like one sender and one receiver.
std::vector<float> through_wire(const BlockFormat& format, const std::vector<float>& values) {
  const BlockCodec codec(format);
  std::vector<float> amax(scale_count(format, values.size()));
  std::vector<float> scales(amax.size());
  std::vector<std::byte> scale_wire(amax.size() * scale_bytes(format.scale));
  std::vector<std::byte> payload(payload_bytes(format, values.size()));
  std::vector<float> received(values.size());
  codec.find_amax(values, 0, amax);
  codec.encode_scales(amax, scale_wire);
  codec.decode_scales(scale_wire, scales);
  codec.quantize(values, 0, scales, payload);
  codec.dequantize(payload, 0, scales, received);
  return received;
}

double nmse(const std::vector<float>& values, const std::vector<double>& exact) {
  ErrorAccumulator errors;
  errors.add(values, exact);
  return errors.metrics().nmse;
}

BlockFormat int8_blocks(std::size_t block) {
  return {ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::contiguous, block};
}

std::vector<float> normals(std::size_t count, std::uint32_t rank) {
  std::vector<float> values(count);
  generate({Distribution::normal, 21, false}, rank, 0, values);
  return values;
}

// A message that visits `ranks` ranks; each rank adds its values after a quantization.
struct Chain {
  std::vector<float> sum;
  std::vector<double> exact;
};
Chain quantized_chain(std::uint32_t ranks, const BlockFormat& format, std::size_t count) {
  Chain chain{normals(count, 0), {}};
  chain.exact.assign(chain.sum.begin(), chain.sum.end());
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    const std::vector<float> local = normals(count, rank);
    chain.sum = through_wire(format, chain.sum);
    for (std::size_t i = 0; i < count; ++i) {
      chain.sum[i] += local[i];
      chain.exact[i] += local[i];
    }
  }
  return chain;
}

}  // namespace

TEST_CASE("mean squared amax of normal values matches known closed forms") {
  REQUIRE(expected_squared_amax(1) == Approx(1.0).epsilon(1e-9));
  REQUIRE(expected_squared_amax(2) == Approx(1 + 2 / std::numbers::pi).epsilon(1e-9));
  REQUIRE(expected_squared_amax(3) ==
          Approx(1 + 2 * std::sqrt(3.0) / std::numbers::pi).epsilon(1e-9));
}

TEST_CASE("mean squared amax grows as 2 log n") {
  double last = 0;
  for (std::uint64_t n : {1, 2, 4, 32, 128, 1024, 1 << 20}) {
    REQUIRE(expected_squared_amax(n) > last);
    last = expected_squared_amax(n);
  }
  const double huge = expected_squared_amax(std::uint64_t{1} << 62);
  REQUIRE(huge / (2 * std::log(std::ldexp(1.0, 62))) == Approx(1.0).margin(0.1));
}

TEST_CASE("mean squared amax matches samples") {
  const std::vector<float> values = normals(1 << 21, 0);
  for (std::size_t block : {4, 32, 128, 1024}) {
    const BlockCodec codec(int8_blocks(block));
    std::vector<float> amax(scale_count(codec.format(), values.size()));
    codec.find_amax(values, 0, amax);
    double sum = 0;
    for (double x : amax) sum += x * x;
    REQUIRE(sum / static_cast<double>(amax.size()) ==
            Approx(expected_squared_amax(block)).epsilon(0.01));
  }
}

TEST_CASE("predicted int8 error matches the codec within 1 %") {
  const std::vector<float> values = normals(1 << 22, 0);
  const std::vector<double> exact(values.begin(), values.end());
  for (std::size_t block : {2, 4, 32, 128, 1024}) {
    CAPTURE(block);
    REQUIRE(nmse(through_wire(int8_blocks(block), values), exact) ==
            Approx(uniform_quantizer_nmse(block, 127.0)).epsilon(0.01));
  }
}

TEST_CASE("predicted int6 and int4 errors match the codec within 2 %") {
  const std::vector<float> values = normals(1 << 20, 0);
  const std::vector<double> exact(values.begin(), values.end());
  for (const auto& [element, largest] :
       {std::pair{ElementFormat::int6, 31.0}, std::pair{ElementFormat::int4, 7.0}})
    for (std::size_t block : {16, 32, 128, 1024}) {
      CAPTURE(name(element), block);
      const BlockFormat format{element, true, ScaleFormat::fp32, ScaleLayout::contiguous, block};
      REQUIRE(nmse(through_wire(format, values), exact) ==
              Approx(uniform_quantizer_nmse(block, largest)).epsilon(0.02));
    }
}

TEST_CASE("predicted mxint8 error matches the codec within 2 % for any deviation") {
  const std::vector<float> normal = normals(1 << 20, 0);
  for (float deviation : {0.01F, 1.0F, 1.2F, 1.5F, 1.8F, 4000.0F}) {
    std::vector<float> values = normal;
    for (float& value : values) value *= deviation;
    for (std::size_t block : {8, 32, 128}) {
      CAPTURE(block, deviation);
      const BlockFormat format{ElementFormat::mxint8, true, ScaleFormat::e8m0,
                               ScaleLayout::contiguous, block};
      REQUIRE(nmse(through_wire(format, values), {values.begin(), values.end()}) ==
              Approx(mxint8_quantizer_nmse(block, deviation)).epsilon(0.02));
    }
  }
  REQUIRE_THROWS_WITH(mxint8_quantizer_nmse(0, 1.0), ContainsSubstring("is 0"));
  REQUIRE_THROWS_WITH(mxint8_quantizer_nmse(32, 0.0), ContainsSubstring("deviation 0"));
}

TEST_CASE("the error of strided groups depends on their number of members") {
  constexpr std::size_t kMembers = 128;
  const std::vector<float> values = normals(kMembers * kRegisterElements, 0);
  const BlockFormat format{ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::strided, 0};
  REQUIRE(nmse(through_wire(format, values), {values.begin(), values.end()}) ==
          Approx(uniform_quantizer_nmse(kMembers, 127.0)).epsilon(0.03));
}

TEST_CASE("edges and error factors of rings") {
  REQUIRE(full_loop_edges(4) == Edges{{1}, {2}, {3}});
  REQUIRE(semi_loop_edges(4) == Edges{{1}, {2}, {1}});
  REQUIRE(semi_loop_edges(5) == Edges{{1}, {2}, {1}, {2}});
  REQUIRE(full_loop_edges(1).empty());
  REQUIRE(semi_loop_edges(1).empty());
  for (std::uint32_t n : {2U, 8U, 16U, 256U}) {
    REQUIRE(allreduce_nmse(1.0, n, full_loop_edges(n), true) == Approx((n + 1) / 2.0));
    REQUIRE(allreduce_nmse(1.0, n, semi_loop_edges(n), true) == Approx(n / 4.0 + 1));
  }
  REQUIRE(allreduce_nmse(0.5, 8, {}, true) == 0.5);
  REQUIRE(allreduce_nmse(0.5, 8, {}, false) == 0.0);
}

TEST_CASE("edges and error factors of tori") {
  using Lengths = std::vector<std::uint32_t>;
  const auto messages = [](const Edges& edges) {
    std::uint32_t sum = 0;
    for (const Edge& edge : edges) sum += edge.count;
    return sum;
  };
  REQUIRE(torus_edges(Lengths{4}) == full_loop_edges(4));
  REQUIRE(torus_edges(Lengths{5}, semi_loop_edges) == semi_loop_edges(5));
  REQUIRE(torus_edges(Lengths{2, 3}) == Edges{{1, 3, 0}, {2, 1, 1}, {4, 1, 1}});
  REQUIRE(torus_edges(Lengths{3, 2}) == Edges{{1, 2, 0}, {2, 2, 0}, {3, 1, 1}});
  REQUIRE(torus_edges(Lengths{1, 1}).empty());
  for (const Lengths& lengths : {Lengths{4, 2}, {3, 3}, {4, 4, 4}, {2, 2, 2, 2}, {16, 16}}) {
    std::uint32_t ranks = 1;
    double factor = 1.0;
    for (const std::uint32_t length : lengths) {
      ranks *= length;
      factor += (length - 1) / 2.0;
    }
    CAPTURE(lengths);
    // Each message adds one term to another, so there are ranks - 1.
    REQUIRE(messages(torus_edges(lengths)) == ranks - 1);
    REQUIRE(messages(torus_edges(lengths, semi_loop_edges)) == ranks - 1);
    REQUIRE(allreduce_nmse(1.0, ranks, torus_edges(lengths), true) == Approx(factor));
  }
  // Recursive halving: log2(N) / 2 + 1.
  REQUIRE(allreduce_nmse(1.0, 8, torus_edges(Lengths{2, 2, 2}), true) == Approx(2.5));
  REQUIRE_THROWS_WITH(torus_edges(Lengths{4, 0}), ContainsSubstring("ranks is 0"));
}

TEST_CASE("edges and error factors of exchanges") {
  REQUIRE(direct_edges(4) == Edges{{1, 3}});
  REQUIRE(direct_edges(1).empty());
  REQUIRE(recursive_doubling_edges(4) == Edges{{1, 4}, {2, 2}});
  REQUIRE(recursive_doubling_edges(1).empty());
  for (std::uint32_t n : {2U, 8U, 64U}) {
    REQUIRE(allreduce_nmse(1.0, n, one_shot_edges(n), false) == Approx(1.0));
    REQUIRE(allreduce_nmse(1.0, n, direct_edges(n), true) == Approx(2.0 - 1.0 / n));
    REQUIRE(allreduce_nmse(1.0, n, recursive_doubling_edges(n), false) == Approx(std::log2(n)));
  }
  REQUIRE_THROWS_WITH(direct_edges(0), ContainsSubstring("ranks is 0"));
  REQUIRE_THROWS_WITH(one_shot_edges(0), ContainsSubstring("ranks is 0"));
  for (std::uint32_t ranks : {0U, 3U, 12U})
    REQUIRE_THROWS_WITH(recursive_doubling_edges(ranks), ContainsSubstring("power of two"));
}

TEST_CASE("stages of a torus and the AllGather may have different quantizers") {
  // 2 x 3: three messages of one rank in stage 0; one of 2 and one of 4 ranks in stage 1.
  const std::vector<std::uint32_t> lengths{2, 3};
  const QuantizerNmse quantizer([](const Edge& edge) { return edge.stage == 0 ? 0.1 : 0.01; }, 0.5);
  REQUIRE(allreduce_nmse(quantizer, 6, torus_edges(lengths), true) ==
          Approx((3 * 0.1 + 0.01 * 6) / 6 + 0.5));
  // Stage 1 quantizes the error of stage 0 again, as its messages continue the messages of stage 0.
  const double first = 0.1;
  const double second = 0.01 * (2 + first);
  const double third = 0.01 * (4 + first + second);
  REQUIRE(compounded_allreduce_nmse(quantizer, 6, torus_edges(lengths), false) ==
          Approx((3 * first + second + third) / 6));
}

TEST_CASE("with saturated quantizers, a hop loses at most the power of one rank") {
  REQUIRE(saturated_allreduce_nmse(0.01, 8, full_loop_edges(8), false) ==
          Approx(allreduce_nmse(0.01, 8, full_loop_edges(8), false)));
  // 0.5 for the first message, 1 for each of the other six and for the AllGather.
  REQUIRE(saturated_allreduce_nmse(0.5, 8, full_loop_edges(8), true) == Approx((0.5 + 6 + 1) / 8));
  // A quantized AllGather alone is not limited.
  REQUIRE(saturated_allreduce_nmse(0.5, 8, {}, true) == 0.5);
}

TEST_CASE("a full-loop ring of int8 codecs has the predicted error") {
  constexpr std::uint32_t kRanks = 8;
  constexpr std::size_t kBlock = 128;
  const Chain chain = quantized_chain(kRanks, int8_blocks(kBlock), 1 << 19);
  const double c = uniform_quantizer_nmse(kBlock, 127.0);
  const auto edges = full_loop_edges(kRanks);
  REQUIRE(nmse(chain.sum, chain.exact) ==
          Approx(allreduce_nmse(c, kRanks, edges, false)).epsilon(0.01));
  REQUIRE(nmse(through_wire(int8_blocks(kBlock), chain.sum), chain.exact) ==
          Approx(allreduce_nmse(c, kRanks, edges, true)).epsilon(0.01));
}

TEST_CASE("a full-loop ring of int4 codecs has the predicted error within 5 %") {
  // For larger groups on more ranks, steps far exceed the term that a rank adds, so errors are no
  // longer uniform: blocks of 128 on 64 ranks stay 5.5 % below.
  struct Case {
    std::uint32_t ranks;
    std::size_t block;
  };
  for (const Case& each : {Case{2, 128}, Case{16, 128}, Case{64, 32}}) {
    CAPTURE(each.ranks, each.block);
    const BlockFormat format{ElementFormat::int4, true, ScaleFormat::fp32, ScaleLayout::contiguous,
                             each.block};
    const Chain chain = quantized_chain(each.ranks, format, 1 << 16);
    const double c = uniform_quantizer_nmse(each.block, 7.0);
    const auto edges = full_loop_edges(each.ranks);
    REQUIRE(nmse(through_wire(format, chain.sum), chain.exact) ==
            Approx(compounded_allreduce_nmse(c, each.ranks, edges, true)).epsilon(0.05));
  }
}

TEST_CASE("compounding vanishes to first order and restarts with each arm") {
  for (std::uint32_t n : {1U, 5U, 16U}) {
    for (const auto& edges : {full_loop_edges(n), semi_loop_edges(n)}) {
      REQUIRE(compounded_allreduce_nmse(1e-9, n, edges, true) ==
              Approx(allreduce_nmse(1e-9, n, edges, true)).epsilon(1e-6));
    }
  }
  REQUIRE(compounded_allreduce_nmse(0.1, 4, semi_loop_edges(4), false) ==
          Approx((0.1 + 0.1 * 2.1 + 0.1) / 4));
  REQUIRE(compounded_allreduce_nmse(0.1, 2, full_loop_edges(2), true) ==
          Approx((0.1 + 0.1 * 2.1) / 2));
}

TEST_CASE("empty groups and rings are refused") {
  REQUIRE_THROWS_WITH(expected_squared_amax(0), ContainsSubstring("is 0"));
  REQUIRE_THROWS_WITH(uniform_quantizer_nmse(0, 127.0), ContainsSubstring("is 0"));
  REQUIRE_THROWS_WITH(full_loop_edges(0), ContainsSubstring("ranks is 0"));
  REQUIRE_THROWS_WITH(semi_loop_edges(0), ContainsSubstring("ranks is 0"));
  REQUIRE_THROWS_WITH(allreduce_nmse(1.0, 0, {}, true), ContainsSubstring("ranks is 0"));
  REQUIRE_THROWS_WITH(compounded_allreduce_nmse(1.0, 0, {}, true), ContainsSubstring("ranks is 0"));
  REQUIRE_THROWS_WITH(saturated_allreduce_nmse(1.0, 0, {}, true), ContainsSubstring("ranks is 0"));
}

}  // namespace equarx::theory_test
