// Every algorithm and collective against its scalar oracle, bit by bit.
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/ring_partition.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/collectives/traffic.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"
#include "tests/support/scalar_exchange.hpp"
#include "tests/support/scalar_torus.hpp"

namespace equarx::value_executor_collectives_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;
using equarx::numerics::InputSpec;
using equarx::numerics::ScaleFormat;
using equarx::numerics::ScaleLayout;

namespace {

using Lengths = std::vector<std::uint32_t>;

struct Formats {
  std::string name;
  BlockFormat reduce_scatter;
  BlockFormat all_gather;
};

const std::vector<Formats>& all_formats() {
  const BlockFormat bf16 = plain(ElementFormat::bf16);
  const BlockFormat fp32 = plain(ElementFormat::fp32);
  const BlockFormat e4m3{ElementFormat::fp8_e4m3, true, ScaleFormat::bf16, ScaleLayout::strided, 0};
  static const std::vector<Formats> formats = {
      {"bf16", bf16, bf16},
      {"fp32", fp32, fp32},
      {"int8 strided", int8_strided(), int8_strided()},
      {"int8 blocks", int8_blocks(7), int8_blocks(7)},
      {"fp8", e4m3, e4m3},
      {"fp8 casts", plain(ElementFormat::fp8_e4m3), plain(ElementFormat::fp8_e4m3)},
      {"int8, bf16", int8_strided(), bf16},
      {"int8, fp32", int8_blocks(32), fp32},
      {"bf16, int8", bf16, int8_blocks(32)},
      {"int8 strided, int8 blocks", int8_strided(), int8_blocks(32)},
      {"fp8, int8", e4m3, int8_blocks(32)}};
  return formats;
}

bool same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  return one.size() == other.size() &&
         std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

// Bytes sent by all ranks, by channel, per the traffic count.
std::vector<std::uint64_t> planned_bytes(const Program& program) {
  std::vector<std::uint64_t> planned(program.channels.size());
  for (Rank rank = 0; rank < program.ranks(); ++rank) {
    const auto sent = sent_bytes(program, rank);
    for (std::size_t channel = 0; channel < sent.size(); ++channel)
      planned[channel] += sent[channel];
  }
  return planned;
}

// Runs a program and checks everything that must hold for any program.
void check(const Program& program, const TensorSource& source, const std::vector<float>& oracle,
           bool exact = false) {
  ResultTensor result(result_elements(program), source.format());
  const ValueResult values = execute(program, source, {.threads = 1, .result = &result});
  std::vector<float> computed(result.elements());
  result.read(0, computed);
  REQUIRE(same_bits(computed, oracle));
  REQUIRE(values.ranks_identical);
  REQUIRE(values.against_exact.count == oracle.size());
  REQUIRE(values.against_exact.nmse < 0.1);
  if (exact) REQUIRE(values.against_exact.mse == 0.0);
  REQUIRE(values.computed_elements == oracle.size());
  REQUIRE(values.sent_bytes == planned_bytes(program));
  REQUIRE(values.received_bytes == values.sent_bytes);
  // Neither the number of threads nor previous runs of an interpreter change anything.
  ResultTensor again(result_elements(program), source.format());
  const ValueResult threaded = execute(program, source, {.threads = 3, .result = &again});
  std::vector<float> other(again.elements());
  again.read(0, other);
  REQUIRE(same_bits(other, oracle));
  REQUIRE(threaded.sent_bytes == values.sent_bytes);
  REQUIRE(threaded.against_exact.mse == values.against_exact.mse);
}

void check_torus(const Lengths& lengths, std::uint64_t elements, ElementFormat tensor,
                 const RingOptions& options) {
  const Program program = make_ring_program(RankGrid(lengths), elements, tensor, options);
  const TensorSource source(InputSpec{.seed = 21}, elements, tensor);
  const bool exact =
      options.collective == Collective::all_gather && !options.all_gather.scaled &&
      (options.all_gather.element == tensor || options.all_gather.element == ElementFormat::fp32);
  check(program, source, ScalarTorus(options, program.partition, source).result(), exact);
}

RingOptions torus(RingStyle style, Collective collective, const Formats& formats,
                  std::uint32_t minishards, std::uint32_t microshards) {
  return {.style = style,
          .reduce_scatter = formats.reduce_scatter,
          .all_gather = formats.all_gather,
          .cut = {.minishards = minishards, .microshards = microshards},
          .collective = collective};
}

constexpr Collective kRingCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                           Collective::all_gather};

}  // namespace

TEST_CASE("tori of every shape have the oracle's bits in every format") {
  for (const Lengths& lengths : {Lengths{4, 2}, {3, 3}, {2, 2, 2}, {5}})
    for (const Collective collective : kRingCollectives)
      for (const RingStyle style : kStyles)
        for (const Formats& formats : all_formats()) {
          CAPTURE(lengths, name(collective), name(style), formats.name);
          check_torus(lengths, 9'001, ElementFormat::bf16, torus(style, collective, formats, 2, 2));
        }
}

TEST_CASE("large and elongated tori have the oracle's bits") {
  for (const Lengths& lengths : {Lengths{4, 4, 4}, {16}, {2, 3, 5}, {2, 8}, {8, 2}})
    for (const Collective collective : kRingCollectives)
      for (const RingStyle style : kStyles) {
        CAPTURE(lengths, name(collective), name(style));
        check_torus(lengths, 12'007, ElementFormat::fp32,
                    torus(style, collective, all_formats()[3], 3, 2));
        check_torus(lengths, 12'007, ElementFormat::bf16,
                    torus(style, collective, all_formats()[0], 1, 4));
      }
}

TEST_CASE("tori with segments of unequal sizes have the oracle's bits") {
  for (const Lengths& lengths : {Lengths{4, 2}, {2, 3, 4}})
    for (const Collective collective : kRingCollectives)
      for (const RingStyle style : kStyles)
        for (const std::size_t which : {0, 2}) {
          if (which == 0 && lengths.size() == 3)
            continue;  // one format suffices on the larger torus
          CAPTURE(lengths, name(collective), name(style), which);
          const RingOptions options = torus(style, collective, all_formats()[which], 2, 2);
          const std::uint64_t elements = 200'003;
          const Partition partition = make_ring_partition(RankGrid(lengths), elements, options);
          std::set<std::uint32_t> shares;
          for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
            shares.insert(partition.segment(segment).share);
          REQUIRE(shares.size() > 1);
          check_torus(lengths, elements, ElementFormat::bf16, options);
        }
}

TEST_CASE("the depth of the pipeline and the cut keep the oracle's bits") {
  for (const auto& [minishards, microshards] : {std::pair{1U, 1U}, {1U, 7U}, {5U, 1U}, {3U, 4U}})
    for (const RingStyle style : kStyles)
      for (const std::size_t which : {2, 3, 8}) {
        CAPTURE(minishards, microshards, name(style), which);
        check_torus(
            {3, 4}, 30'011, ElementFormat::bf16,
            torus(style, Collective::all_reduce, all_formats()[which], minishards, microshards));
      }
}

TEST_CASE("cuts that differ between stages have the oracle's bits") {
  // 128 elements per scale, strided: more minishards for the larger chunks of the first stages.
  for (const RingStyle style : kStyles)
    for (const std::size_t which : {0, 2, 6, 8}) {
      CAPTURE(name(style), which);
      RingOptions options = torus(style, Collective::all_reduce, all_formats()[which], 1, 1);
      options.cut = {.minishards = {}, .microshards = {}, .elements_per_scale = 4};
      check_torus({4, 2}, 150'011, ElementFormat::bf16, options);
    }
}

TEST_CASE("any order of the axes has the oracle's bits, rotated or not") {
  for (const std::vector<std::size_t>& axes :
       {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}})
    for (const bool rotate : {false, true})
      for (const RingStyle style : kStyles) {
        CAPTURE(axes, rotate, name(style));
        RingOptions options = torus(style, Collective::all_reduce, all_formats()[3], 2, 2);
        options.axes = axes;
        options.rotate_axes = rotate;
        check_torus({2, 3, 4}, 20'011, ElementFormat::bf16, options);
      }
}

TEST_CASE("recursive halving, on axes of length 2, has the oracle's bits") {
  for (const std::size_t rounds : {1U, 2U, 3U, 4U})
    for (const Formats& formats : all_formats()) {
      CAPTURE(rounds, formats.name);
      RingOptions options = torus(RingStyle::semi_loop, Collective::all_reduce, formats, 2, 2);
      options.rotate_axes = false;
      check_torus(Lengths(rounds, 2), 9'001, ElementFormat::bf16, options);
    }
}

TEST_CASE("tori of tiny tensors have the oracle's bits, including padding") {
  for (const std::uint64_t elements : {1, 2, 5, 11, 12, 13, 49})
    for (const Collective collective : kRingCollectives)
      for (const RingStyle style : kStyles)
        for (const std::size_t which : {0, 2}) {
          CAPTURE(elements, name(collective), name(style), which);
          check_torus({3, 4}, elements, ElementFormat::bf16,
                      torus(style, collective, all_formats()[which], 1, 1));
        }
}

namespace {

using Oracle = std::function<std::vector<float>(const TensorSource&, std::uint32_t, const Wire&)>;
using Make = std::function<Program(std::uint32_t, std::uint64_t, const ExchangeOptions&)>;

Make direct(Collective collective) {
  return [=](std::uint32_t ranks, std::uint64_t elements, const ExchangeOptions& options) {
    return make_direct_exchange(collective, ranks, elements, ElementFormat::bf16, options);
  };
}

void check_exchange(const Make& make, const Oracle& oracle, const std::vector<std::uint32_t>& sizes,
                    std::uint64_t elements = 9'001,
                    const std::vector<Formats>& of = all_formats()) {
  for (const std::uint32_t ranks : sizes)
    for (const Formats& formats : of)
      for (const auto& [minishards, microshards] : {std::pair{1U, 1U}, {3U, 2U}}) {
        if (elements < 1000 && minishards > 1) continue;
        CAPTURE(ranks, formats.name, minishards, microshards);
        const Program program = make(ranks, elements,
                                     {formats.reduce_scatter,
                                      formats.all_gather,
                                      {.minishards = minishards, .microshards = microshards}});
        const TensorSource source(InputSpec{.seed = 22}, elements, ElementFormat::bf16);
        check(program, source,
              oracle(source, ranks, {formats.reduce_scatter, formats.all_gather, minishards}));
      }
}

const std::vector<std::uint32_t> kAnyRanks = {2, 3, 8, 11};

}  // namespace

TEST_CASE("two-shot has the oracle's bits") {
  check_exchange(direct(Collective::all_reduce), scalar_two_shot, kAnyRanks);
  check_exchange(direct(Collective::all_reduce), scalar_two_shot, kAnyRanks, 5);
}

TEST_CASE("a direct ReduceScatter has the oracle's bits") {
  check_exchange(
      direct(Collective::reduce_scatter),
      [](const TensorSource& source, std::uint32_t ranks, const Wire& wire) {
        return as_tensor(source, scalar_direct_sums(source, ranks, wire));
      },
      kAnyRanks);
}

TEST_CASE("a direct AllGather has the oracle's bits") {
  check_exchange(direct(Collective::all_gather), scalar_direct_gather, kAnyRanks);
}

TEST_CASE("an AllToAll has the oracle's bits for every sender") {
  check_exchange(direct(Collective::all_to_all), scalar_all_to_all, kAnyRanks);
  check_exchange(direct(Collective::all_to_all), scalar_all_to_all, kAnyRanks, 5);
}

TEST_CASE("an AllToAll has the oracle's bits in formats of experts and of MX") {
  // DeepEP's dispatch: FP32 scales of 128 elements (kernels/internode_ll.cu, kNumPerChannels).
  const BlockFormat experts{ElementFormat::fp8_e4m3, true, ScaleFormat::fp32,
                            ScaleLayout::contiguous, 128};
  std::vector<Formats> formats = {{"fp8 by 128", experts, experts}};
  for (const equarx::numerics::NamedFormat& named : equarx::numerics::named_formats())
    if (named.name == "mxfp8-e4m3" || named.name == "mxfp4" || named.name == "nvfp4" ||
        named.name == "int4")
      formats.push_back({std::string(named.name), named.format, named.format});
  REQUIRE(formats.size() == 5);
  check_exchange(direct(Collective::all_to_all), scalar_all_to_all, kAnyRanks, 9'001, formats);
}

namespace {

/// The payload of a microshard that ranks write for the rank at an offset.
BufferId payload_of(const Program& program, const Tile& tile) {
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.content == Content::payload && buffer.phase == Phase::reduce_scatter &&
        buffer.tile == tile)
      return id;
  }
  throw std::logic_error("no such payload");
}

/// Rounds the minishard at `first` stochastically, microshard by microshard.
void round_randomly(const Program& program, Rank rank, Tile tile, std::uint64_t chunk,
                    std::vector<float>& values) {
  const ReferenceCodec codec(program.format(Phase::reduce_scatter));
  const Range minishard = program.partition.minishard(tile);
  const std::size_t groups = scale_count(program.format(Phase::reduce_scatter), minishard.size());
  std::vector<float> scales(groups);
  std::vector<std::byte> encoded(scales_bytes(program.format(Phase::reduce_scatter), groups));
  codec.find_amax(std::span(values).subspan(chunk + minishard.begin, minishard.size()), 0, scales);
  codec.encode_scales(scales, encoded);
  codec.decode_scales(encoded, scales);
  for (; tile.microshard < program.partition.cut(0).microshards; ++tile.microshard) {
    const Range part = program.partition.microshard(tile);
    const std::size_t in_minishard = part.begin - minishard.begin;
    const std::span<float> own = std::span(values).subspan(chunk + part.begin, part.size());
    std::vector<std::byte> payload(part.size());
    codec.quantize(own, in_minishard, scales, payload,
                   {.seed = ValueOptions{}.rounding_seed,
                    .rank = rank,
                    .hop = payload_of(program, tile),
                    .first_element = chunk + part.begin});
    codec.dequantize(payload, in_minishard, scales, own);
  }
}

}  // namespace

TEST_CASE("an AllToAll rounds stochastically as the oracle does, and in both directions") {
  constexpr std::uint64_t kElements = 9'001;
  for (BlockFormat format : {int8_blocks(32), int8_strided()})
    for (const std::uint32_t ranks : {2U, 3U, 8U}) {
      CAPTURE(ranks, format.block);
      format.rounding = equarx::numerics::Rounding::stochastic;
      const Program program =
          make_direct_exchange(Collective::all_to_all, ranks, kElements, ElementFormat::bf16,
                               {format, format, {.minishards = 3, .microshards = 2}});
      const TensorSource source(InputSpec{.seed = 24}, kElements, ElementFormat::bf16);
      const std::uint64_t chunk = program.partition.chunk_elements(0);
      std::vector<float> all;
      auto inputs = padded_inputs(source, ranks, ranks);
      for (Rank rank = 0; rank < ranks; ++rank) {
        for (Rank away = 1; away < ranks; ++away)
          for (std::uint32_t minishard = 0; minishard < 3; ++minishard)
            round_randomly(program, rank, {.shard_offset = away, .minishard = minishard},
                           (rank + away) % ranks * chunk, inputs[rank]);
        const auto moved = as_tensor(source, inputs[rank]);
        all.insert(all.end(), moved.begin(), moved.end());
      }
      check(program, source, all);
    }
}

TEST_CASE("one-shot has the oracle's bits") {
  check_exchange(
      [](std::uint32_t ranks, std::uint64_t elements, const ExchangeOptions& options) {
        return make_one_shot_all_reduce(ranks, elements, ElementFormat::bf16, options);
      },
      scalar_one_shot, kAnyRanks);
}

TEST_CASE("recursive doubling has the oracle's bits, the same on every rank") {
  check_exchange(
      [](std::uint32_t ranks, std::uint64_t elements, const ExchangeOptions& options) {
        Lengths twos;
        for (std::uint32_t left = ranks; left > 1; left /= 2) twos.push_back(2);
        return make_recursive_doubling(RankGrid(twos), elements, ElementFormat::bf16, options);
      },
      [](const TensorSource& source, std::uint32_t ranks, const Wire& wire) {
        const auto first = scalar_recursive_doubling(source, ranks, wire);
        REQUIRE(same_bits(scalar_recursive_doubling(source, ranks, wire, ranks - 1), first));
        return first;
      },
      {2, 4, 8, 16});
}

TEST_CASE("partners with the same sums round alike in the next round, stochastically too") {
  constexpr std::uint64_t kElements = 5000;
  const TensorSource source(InputSpec{.seed = 3}, kElements, ElementFormat::bf16);
  for (const std::uint32_t ranks : {2U, 4U, 8U, 16U})
    for (const bool blocks : {false, true}) {
      Lengths twos;
      for (std::uint32_t left = ranks; left > 1; left /= 2) twos.push_back(2);
      BlockFormat format = blocks ? int8_blocks(32) : int8_strided();
      CAPTURE(ranks, blocks);
      const auto nmse = [&](equarx::numerics::Rounding rounding) {
        format.rounding = rounding;
        const ValueResult values =
            execute(make_recursive_doubling(RankGrid(twos), kElements, ElementFormat::bf16,
                                            {format, format, {3, 2}}),
                    source);
        CHECK(values.ranks_identical);
        return values.against_exact.nmse;
      };
      const double at_random = nmse(equarx::numerics::Rounding::stochastic);
      if (!blocks) continue;  // with so few elements nearly each has its own scale
      // Twice the error: different sums are rounded with different random bits.
      CHECK(at_random == Approx(2.0 * nmse(equarx::numerics::Rounding::nearest)).epsilon(0.2));
    }
}

TEST_CASE("broadcasts have the oracle's bits") {
  for (const std::uint32_t ranks : {2U, 3U, 8U})
    for (const Formats& formats : all_formats())
      for (const RingStyle style : kStyles)
        for (const bool direct : {false, true}) {
          CAPTURE(ranks, formats.name, name(style), direct);
          const BroadcastOptions options{
              style, formats.all_gather, {.minishards = 3, .microshards = 2}};
          const std::uint64_t elements = 9'001;
          const Program program =
              direct ? make_direct_broadcast(ranks, elements, ElementFormat::bf16, options)
                     : make_ring_broadcast(ranks, elements, ElementFormat::bf16, options);
          const TensorSource source(InputSpec{.seed = 23}, elements, ElementFormat::bf16);
          check(program, source,
                scalar_broadcast(source, direct ? 1 : ring_segments(style),
                                 {formats.all_gather, formats.all_gather, 3}));
        }
}

}  // namespace equarx::value_executor_collectives_test
