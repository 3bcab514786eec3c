// Collectives of tensors that are cast first, compared with the same collectives of tensors of that
// type.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/casts.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/hadamard.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"

namespace equarx::values::value_executor_casts_test {
namespace {

using collectives::Collective;
using collectives::Program;
using collectives::RankGrid;
using collectives::RankLayout;
using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr std::uint64_t kElements = 4099;  // a prime, so that nothing divides it
const numerics::InputSpec kInputs{.seed = 7};

RankGrid grid_of(const collectives::AlgorithmInfo& algorithm) {
  if (algorithm.layout == RankLayout::grid) return RankGrid({4, 2});
  if (algorithm.layout == RankLayout::hypercube) return RankGrid({2, 2, 2});
  if (algorithm.layout == RankLayout::slices_of_grids) return RankGrid({2, 2, 2});
  if (algorithm.layout == RankLayout::slices || algorithm.layout == RankLayout::nodes)
    return RankGrid({2, 4});
  return RankGrid({8});
}

Program program_of(const collectives::AlgorithmInfo& algorithm, Collective collective,
                   ElementFormat type) {
  BlockFormat format{.element = type};
  if (!algorithm.can_be_plain) format = {.element = ElementFormat::int8, .scaled = true};
  return algorithm.make({.collective = collective,
                         .grid = grid_of(algorithm),
                         .elements = kElements,
                         .dtype = type,
                         .reduce_scatter = format,
                         .all_gather = format,
                         .cut = {.minishards = 2, .microshards = 3},
                         .reduce_scatter_between = format,
                         .all_gather_between = format});
}

/// Results of `program` on tensors of `tensor`, written to `kept`.
std::vector<float> result_of(const Program& program, ElementFormat tensor, ElementFormat kept) {
  ResultTensor result(result_elements(program), kept);
  const ValueResult values =
      execute(program, TensorSource(kInputs, kElements, tensor), {.threads = 1, .result = &result});
  CHECK(values.ranks_identical);
  std::vector<float> read(result.elements());
  result.read(0, read);
  return read;
}

template <class Check>
void for_all(Check check) {
  for (const collectives::AlgorithmInfo& algorithm : collectives::algorithms())
    for (const Collective collective : algorithm.collectives) {
      if (algorithm.layout == RankLayout::graph) continue;  // needs a graph; ranks' results differ
      CAPTURE(algorithm.name, name(collective));
      check(algorithm, collective);
    }
}

TEST_CASE("a cast to FP8 gives the bits of the collective of FP8 tensors") {
  for_all([](const collectives::AlgorithmInfo& algorithm, Collective collective) {
    for (const ElementFormat fp8 : {ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2}) {
      const Program program = program_of(algorithm, collective, fp8);
      const Program cast = collectives::with_casts(program, ElementFormat::fp32);
      REQUIRE(result_of(cast, ElementFormat::fp32, ElementFormat::fp32) ==
              result_of(program, fp8, fp8));
    }
  });
}

TEST_CASE("a cast to FP32 changes intermediate sums, and only rounds the result") {
  for_all([](const collectives::AlgorithmInfo& algorithm, Collective collective) {
    const Program program = program_of(algorithm, collective, ElementFormat::fp32);
    const Program cast = collectives::with_casts(program, ElementFormat::fp16);
    std::vector<float> expected = result_of(program, ElementFormat::fp16, ElementFormat::fp32);
    round_to_tensor(ElementFormat::fp16, expected);
    REQUIRE(result_of(cast, ElementFormat::fp16, ElementFormat::fp32) == expected);
  });
}

TEST_CASE("errors are relative to the sum of the tensors before the cast") {
  const Program program = program_of(*collectives::find_algorithm("one-shot"),
                                     Collective::all_reduce, ElementFormat::fp8_e4m3);
  const auto nmse = [](const Program& run, ElementFormat tensor) {
    return execute(run, TensorSource(kInputs, kElements, tensor)).against_exact.nmse;
  };
  // With FP8 tensors, one-shot only rounds the result; with a cast, the rounding of the inputs is
  // an error as well.
  const double of_fp8 = nmse(program, ElementFormat::fp8_e4m3);
  const double cast =
      nmse(collectives::with_casts(program, ElementFormat::fp32), ElementFormat::fp32);
  CHECK(cast > 1.8 * of_fp8);
  CHECK(cast < 2.2 * of_fp8);
}

constexpr BlockFormat blocks_of(ElementFormat element, std::size_t block) {
  return {.element = element,
          .scaled = true,
          .layout = numerics::ScaleLayout::contiguous,
          .block = block};
}

TEST_CASE("rotated tensors have the sums of unrotated ones, with any algorithm") {
  for_all([](const collectives::AlgorithmInfo& algorithm, Collective collective) {
    const bool adds =
        collective == Collective::all_reduce || collective == Collective::reduce_scatter;
    if (!adds || !algorithm.can_be_plain) return;
    const Program plain = program_of(algorithm, collective, ElementFormat::fp32);
    const std::vector<float> expected = result_of(plain, ElementFormat::fp32, ElementFormat::fp32);
    const std::vector<float> got =
        result_of(collectives::with_casts(plain, ElementFormat::fp32, true), ElementFormat::fp32,
                  ElementFormat::fp32);
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!(std::abs(got[i] - expected[i]) < 2e-5F))
        FAIL(i << ": " << got[i] << ", " << expected[i]);
  });
}

/// The tiles of one minishard, each rotated separately.
std::vector<collectives::Range> rotated_tiles(const Program& program, std::uint32_t minishard) {
  std::vector<collectives::Range> tiles;
  for (const collectives::Instruction& one : program.instructions)
    if (one.op == collectives::Op::cast && one.tile.minishard == minishard)
      tiles.push_back(program.partition.microshard(one.tile));
  return tiles;
}

/// The product of 32 values with the matrix, element by element.
void multiply(std::span<float> block) {
  const std::vector<float> values(block.begin(), block.end());
  for (std::size_t i = 0; i < block.size(); ++i) {
    double product = 0.0;
    for (std::size_t j = 0; j < block.size(); ++j)
      product += (std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0) * double{values[j]};
    block[i] = static_cast<float>(product);
  }
}

/// Adds the values as decoded after encoding.
void add_coded(const BlockFormat& format, std::span<const float> values, std::span<float> sums) {
  const numerics::BlockCodec codec(format);
  std::vector<float> amax(numerics::scale_count(format, values.size()), 0.0F);
  std::vector<float> scales(amax.size());
  std::vector<std::byte> bytes(numerics::scales_bytes(format, amax.size()));
  std::vector<std::byte> payload(numerics::payload_bytes(format, values.size()));
  codec.find_amax(values, 0, amax);
  codec.encode_scales(amax, bytes);
  codec.decode_scales(bytes, scales);
  codec.quantize(values, 0, scales, payload);
  codec.dequantize_add(payload, 0, scales, sums, sums);
}

/// A minishard of a one-shot AllReduce: every rank's tensor is rotated tile by tile, quantized
/// once, decoded and summed in the order of ranks, and the sum is rotated back.
std::vector<float> read_slowly(const TensorSource& source, std::uint32_t ranks,
                               const BlockFormat& format,
                               const std::vector<collectives::Range>& tiles) {
  const std::uint64_t first = tiles.front().begin;
  std::vector<float> sum(tiles.back().end - first, 0.0F);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<float> values(sum.size());
    source.read(rank, first, values);
    for (const collectives::Range& tile : tiles)
      for (std::uint64_t begin = tile.begin; begin + 32 <= tile.end; begin += 32)
        multiply(std::span(values).subspan(begin - first, 32));
    add_coded(format, values, sum);
  }
  for (const collectives::Range& tile : tiles)
    numerics::rotate_back(std::span(sum).subspan(tile.begin - first, tile.size()));
  round_to_tensor(source.format(), sum);
  return sum;
}

TEST_CASE("a rotated AllReduce matches a slow reference bit for bit") {
  const BlockFormat format = blocks_of(ElementFormat::int4, 64);
  const ElementFormat fp8 = ElementFormat::fp8_e4m3;  // their rotations are exact
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
    CAPTURE(ranks);
    const Program program =
        collectives::with_casts(collectives::find_algorithm("one-shot")
                                    ->make({.collective = Collective::all_reduce,
                                            .grid = RankGrid({ranks}),
                                            .elements = kElements,
                                            .dtype = ElementFormat::fp32,
                                            .reduce_scatter = format,
                                            .all_gather = format,
                                            .cut = {.minishards = 2, .microshards = 3}}),
                                fp8, true);
    std::vector<float> expected;
    for (std::uint32_t minishard = 0; minishard < 2; ++minishard)
      std::ranges::copy(read_slowly(TensorSource(kInputs, kElements, fp8), ranks, format,
                                    rotated_tiles(program, minishard)),
                        std::back_inserter(expected));
    expected.resize(kElements);
    CHECK(result_of(program, fp8, ElementFormat::fp32) == expected);
  }
}

TEST_CASE("a rotation helps heavy tails in int4 and does not affect normal values") {
  const auto sqnr = [](numerics::Distribution distribution, bool rotate) {
    const BlockFormat format = blocks_of(ElementFormat::int4, 128);
    constexpr std::uint64_t kMany = 1 << 18;
    const auto* algorithm = collectives::find_algorithm("equarx");
    Program program = algorithm->make({.collective = Collective::all_reduce,
                                       .grid = RankGrid({8}),
                                       .elements = kMany,
                                       .dtype = ElementFormat::fp32,
                                       .reduce_scatter = format,
                                       .all_gather = format,
                                       .cut = {}});
    program = collectives::with_casts(std::move(program), ElementFormat::fp32, rotate);
    const numerics::InputSpec spec{.distribution = distribution, .seed = 3};
    const ValueResult result = execute(program, TensorSource(spec, kMany, ElementFormat::fp32));
    CHECK(result.ranks_identical);
    return -10.0 * std::log10(result.against_exact.nmse);
  };
  using numerics::Distribution;
  const double plain = sqnr(Distribution::heavy_tailed, false);
  const double rotated = sqnr(Distribution::heavy_tailed, true);
  CAPTURE(plain, rotated);
  CHECK(rotated > plain + 1.0);
  CHECK(std::abs(sqnr(Distribution::normal, true) - sqnr(Distribution::normal, false)) < 0.2);
}

}  // namespace
}  // namespace equarx::values::value_executor_casts_test
