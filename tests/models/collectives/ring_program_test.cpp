#include "models/collectives/ring_program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::ring_program_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;
using equarx::numerics::ScaleFormat;

namespace {

constexpr std::uint32_t kRanks[] = {2, 3, 4, 5, 7, 8, 16};
constexpr std::pair<std::uint32_t, std::uint32_t> kPipelines[] = {{1, 1}, {1, 4}, {3, 1}, {4, 3}};
constexpr double kBf16Bytes = 2.0;

// Calls `visit` with a program of every kind: ranks, style, quantized phases, depth of the
// pipeline.
template <typename Visit>
void for_each_ring(Visit visit) {
  for (const std::uint32_t ranks : kRanks)
    for (const RingStyle style : kStyles)
      for (const Quantized phases : kQuantized)
        for (const auto& [minishards, microshards] : kPipelines) {
          const RingOptions options = ring(style, phases, int8_strided(), minishards, microshards);
          CAPTURE(ranks, name(style), phases.reduce_scatter, phases.all_gather, minishards,
                  microshards);
          visit(make_ring_all_reduce(ranks, 20'011, ElementFormat::bf16, options), options);
        }
}

// Messages and bytes of one phase in one direction.
struct PhaseTraffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};
PhaseTraffic traffic(const Program& program, Phase phase, Direction direction) {
  PhaseTraffic traffic;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op != Op::send || instruction.phase != phase) continue;
    if (program.messages[instruction.message].channel != static_cast<ChannelId>(direction))
      continue;
    ++traffic.messages;
    traffic.bytes += program.message_bytes(instruction.message);
  }
  return traffic;
}

// Number of microshards per shard.
std::size_t pieces_of(const RingOptions& options) {
  return options.cut.minishards.value() * options.cut.microshards.value();
}

std::size_t count(const Program& program, Op op, Phase phase) {
  return static_cast<std::size_t>(std::ranges::count_if(
      program.instructions, [&](const auto& i) { return i.op == op && i.phase == phase; }));
}

constexpr Phase kBothPhases[] = {Phase::reduce_scatter, Phase::all_gather};

}  // namespace

TEST_CASE("every ring is a valid program with the requested properties") {
  for_each_ring([](const Program& program, const RingOptions& options) {
    REQUIRE_NOTHROW(validate(program));
    REQUIRE(program.tensor_format == ElementFormat::bf16);
    REQUIRE(program.format(Phase::reduce_scatter) == options.reduce_scatter);
    REQUIRE(program.format(Phase::all_gather) == options.all_gather);
    REQUIRE(program.partition.segments() == ring_segments(options.style));
    REQUIRE(program.partition.cut(0).minishards == options.cut.minishards);
    REQUIRE(program.partition.cut(0).microshards == options.cut.microshards);
  });
}

TEST_CASE("messages and bytes of each phase and direction match closed forms") {
  for_each_ring([](const Program& program, const RingOptions& options) {
    const Partition& partition = program.partition;
    const auto steps = ring_steps(program.ranks(), options.style);
    for (const Phase phase : kBothPhases) {
      const BlockFormat& format = program.format(phase);
      std::uint64_t segment_bytes = payload_bytes(format, partition.chunk_elements(0));
      for (std::uint32_t minishard = 0; minishard < partition.cut(0).minishards; ++minishard)
        segment_bytes += scale_count(format, partition.minishard({.minishard = minishard}).size()) *
                         scale_bytes(format.scale);
      const std::uint64_t hop_messages =
          partition.cut(0).minishards * (partition.cut(0).microshards + (format.scaled ? 1 : 0));
      for (const Direction direction : kBothDirections) {
        const std::uint64_t hops = steps[static_cast<std::size_t>(direction)];
        const PhaseTraffic sent = traffic(program, phase, direction);
        REQUIRE(sent.messages == hops * hop_messages);
        REQUIRE(sent.bytes == hops * segment_bytes);
      }
    }
  });
}

TEST_CASE("bytes of a bf16 phase: V (N-1) / 2N per direction full-loop, whole shards semi-loop") {
  for (const std::uint32_t ranks : kRanks) {
    CAPTURE(ranks);
    const std::uint64_t elements = ranks * std::uint64_t{6000};
    const double tensor_bytes = kBf16Bytes * static_cast<double>(elements);
    for (const RingStyle style : kStyles) {
      const Program program = make_ring_all_reduce(
          ranks, elements, ElementFormat::bf16, ring(style, {false, false}, int8_strided(), 1, 1));
      for (const Phase phase : kBothPhases) {
        const auto forward = static_cast<double>(traffic(program, phase, Direction::forward).bytes);
        const auto backward =
            static_cast<double>(traffic(program, phase, Direction::backward).bytes);
        if (style == RingStyle::full_loop) {
          REQUIRE(forward == Approx(tensor_bytes * (ranks - 1) / (2.0 * ranks)));
          REQUIRE(backward == forward);
        } else {
          REQUIRE(forward == Approx(tensor_bytes * (ranks / 2) / ranks));  // rounded down
          REQUIRE(backward == Approx(tensor_bytes * ((ranks + 1) / 2 - 1) / ranks));
        }
      }
    }
  }
}

TEST_CASE("a quantized phase takes (1 + scale bytes / elements per scale) / 2 of bf16's bytes") {
  constexpr std::uint32_t kRing = 8;
  constexpr std::uint64_t kElements = kRing * 2 * 4 * 128 * 64;
  for (const RingStyle style : kStyles)
    for (const ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16})
      for (const std::size_t block : {32, 128, 2048}) {
        const auto bytes = [&](Quantized phases) {
          const Program program =
              make_ring_all_reduce(kRing, kElements, ElementFormat::bf16,
                                   ring(style, phases, int8_blocks(block, scale), 4, 2));
          return static_cast<double>(
              traffic(program, Phase::reduce_scatter, Direction::forward).bytes);
        };
        const double overhead =
            static_cast<double>(equarx::numerics::scale_bytes(scale)) / static_cast<double>(block);
        REQUIRE(bytes({true, true}) / bytes({false, false}) == Approx(0.5 * (1.0 + overhead)));
      }
}

TEST_CASE("scales precede their payload on every hop") {
  for_each_ring([](const Program& program, const RingOptions&) {
    std::map<std::pair<BufferId, ChannelId>, int> hops;  // by buffer, so far
    for (const Instruction& instruction : program.instructions) {
      if (instruction.op != Op::send) continue;
      const Message& message = program.messages[instruction.message];
      const Buffer& buffer = program.buffers[message.buffer];
      const int hop = ++hops[{message.buffer, message.channel}];
      if (buffer.content == Content::payload && program.format(buffer.phase).scaled)
        REQUIRE(hops[{buffer.scales, message.channel}] >= hop);
    }
  });
}

TEST_CASE("every hop of a quantized ReduceScatter re-encodes, the AllGather encodes once") {
  for_each_ring([](const Program& program, const RingOptions& options) {
    const auto steps = ring_steps(program.ranks(), options.style);
    const std::size_t pieces = pieces_of(options);
    const auto made = [&](Phase phase) {
      return count(program, Op::quantize, phase) + count(program, Op::lend, phase);
    };
    REQUIRE(made(Phase::reduce_scatter) == (steps[0] + steps[1]) * pieces);
    REQUIRE(made(Phase::all_gather) == ring_segments(options.style) * pieces);
  });
}

TEST_CASE("sums are FP32 if hops are quantized, else in the wire format") {
  for_each_ring([](const Program& program, const RingOptions& options) {
    const auto steps = ring_steps(program.ranks(), options.style);
    const std::size_t sums = (steps[0] + steps[1]) * pieces_of(options);
    const bool scaled = options.reduce_scatter.scaled;
    REQUIRE(count(program, Op::accumulate, Phase::reduce_scatter) == (scaled ? sums : 0));
    REQUIRE(count(program, Op::add, Phase::reduce_scatter) == (scaled ? 0 : sums));
  });
}

TEST_CASE("amax takes a separate pass only if no sum was just computed") {
  for_each_ring([](const Program& program, const RingOptions& options) {
    const auto steps = ring_steps(program.ranks(), options.style);
    const std::size_t pieces = pieces_of(options);
    const std::size_t ends = steps[1] == 0 ? 1 : 2;  // first chip of a shard
    REQUIRE(count(program, Op::find_scales, Phase::reduce_scatter) ==
            (options.reduce_scatter.scaled ? ends * pieces : 0));
    const bool own_pass = options.all_gather.scaled && !options.reduce_scatter.scaled;
    REQUIRE(count(program, Op::find_scales, Phase::all_gather) ==
            (own_pass ? ring_segments(options.style) * pieces : 0));
  });
}

TEST_CASE("phases with different scale groups compute their scales separately") {
  RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_strided(), 1, 2);
  options.all_gather = int8_blocks(32);
  const Program program = make_ring_all_reduce(4, 20'000, ElementFormat::bf16, options);
  REQUIRE(count(program, Op::find_scales, Phase::all_gather) == 4);
}

TEST_CASE("a tensor in the wire format is lent and delivered without work") {
  const auto work = [](ElementFormat tensor, ElementFormat wire) {
    const Program program = make_ring_all_reduce(
        4, 1000, tensor, ring(RingStyle::full_loop, {false, false}, int8_strided(), 1, 1, wire));
    return std::pair{count(program, Op::quantize, Phase::reduce_scatter) +
                         count(program, Op::quantize, Phase::all_gather),
                     count(program, Op::dequantize, Phase::all_gather)};
  };
  using Counts = std::pair<std::size_t, std::size_t>;
  REQUIRE(work(ElementFormat::bf16, ElementFormat::bf16) == Counts{0, 0});
  REQUIRE(work(ElementFormat::fp32, ElementFormat::fp32) == Counts{0, 0});
  // Only the first chip of a shard converts, one shard per direction; all 8 pieces are converted
  // back.
  REQUIRE(work(ElementFormat::fp32, ElementFormat::bf16) == Counts{2, 8});
}

TEST_CASE("sums are lent to the AllGather only if they are in its format") {
  const auto lent = [](const BlockFormat& reduce, const BlockFormat& gather) {
    RingOptions options = ring(RingStyle::full_loop, {false, false}, {}, 1, 1);
    options.reduce_scatter = reduce;
    options.all_gather = gather;
    const Program program = make_ring_all_reduce(4, 1000, ElementFormat::bf16, options);
    REQUIRE(count(program, Op::lend, Phase::all_gather) +
                count(program, Op::quantize, Phase::all_gather) ==
            2);
    return count(program, Op::lend, Phase::all_gather) == 2;
  };
  const BlockFormat bf16 = plain(ElementFormat::bf16);
  const BlockFormat fp32 = plain(ElementFormat::fp32);
  REQUIRE(lent(bf16, bf16));
  REQUIRE(lent(fp32, fp32));
  REQUIRE_FALSE(lent(fp32, bf16));
  REQUIRE_FALSE(lent(bf16, int8_strided()));
  REQUIRE_FALSE(lent(int8_strided(), bf16));
  REQUIRE_FALSE(lent(int8_strided(), int8_strided()));
}

TEST_CASE(
    "each direction of a full loop carries its own half of every shard, semi-loops share it") {
  for_each_ring([](const Program& program, const RingOptions& options) {
    for (const Message& message : program.messages) {
      const std::uint32_t segment = program.buffers[message.buffer].tile.segment;
      const bool own = segment == message.channel;
      REQUIRE((options.style == RingStyle::full_loop ? own : segment == 0));
    }
  });
}

TEST_CASE("a ring of fewer than two chips is refused") {
  const RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_strided(), 1, 1);
  for (const std::uint32_t ranks : {0, 1})
    REQUIRE_THROWS_WITH(make_ring_all_reduce(ranks, 1000, ElementFormat::bf16, options),
                        ContainsSubstring("at least two"));
}

TEST_CASE("tensors without elements, and more parts than elements, are refused") {
  RingOptions options = ring(RingStyle::semi_loop, {true, true}, int8_strided(), 2, 2);
  REQUIRE_THROWS_AS(make_ring_all_reduce(4, 0, ElementFormat::bf16, options),
                    std::invalid_argument);
  REQUIRE_THROWS_AS(make_ring_all_reduce(4, 12, ElementFormat::bf16, options),
                    std::invalid_argument);
  REQUIRE_NOTHROW(make_ring_all_reduce(4, 13, ElementFormat::bf16, options));
  options.cut.minishards = 0;
  REQUIRE_THROWS_AS(make_ring_all_reduce(4, 1000, ElementFormat::bf16, options),
                    std::invalid_argument);
}

}  // namespace equarx::ring_program_test
