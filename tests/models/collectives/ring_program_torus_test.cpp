// ring_program on grids of several axes: the bucket algorithm.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "models/collectives/ring_program.hpp"
#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::ring_program_torus_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

namespace {

using Lengths = std::vector<std::uint32_t>;

const std::vector<Lengths> kGrids = {{4, 2}, {3, 3}, {2, 2, 2}, {4, 4, 4}, {16}, {2, 3, 5}};
constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::all_gather};
constexpr std::uint64_t kElements = 30'011;
constexpr std::uint64_t kManyElements = 20'000'011;  // a grid with segments of unequal sizes

// Calls `visit` with a program of every kind.
template <typename Visit>
void for_each_torus(Visit visit) {
  for (const Lengths& lengths : kGrids)
    for (const Collective collective : kCollectives)
      for (const RingStyle style : kStyles)
        for (const Quantized phases : kQuantized) {
          RingOptions options = ring(style, phases, int8_blocks(32), 2, 3);
          options.collective = collective;
          CAPTURE(lengths, name(collective), name(style), phases.reduce_scatter, phases.all_gather);
          for (const std::uint64_t elements : {kElements, kManyElements})
            visit(make_ring_program(RankGrid(lengths), elements, ElementFormat::bf16, options),
                  options);
        }
}

// Wire bytes of one rank's chunk, including scales.
std::uint64_t chunk_bytes(const Program& program, Phase phase, std::uint32_t segment,
                          std::uint32_t uncut) {
  const Partition& partition = program.partition;
  const BlockFormat& format = program.format(phase);
  std::uint64_t bytes = payload_bytes(format, partition.chunk_elements(segment, uncut));
  for (std::uint32_t i = 0; i < partition.cut(segment, uncut).minishards; ++i)
    bytes += scale_count(format, partition.minishard({0, segment, uncut, i, 0}).size()) *
             scale_bytes(format.scale);
  return bytes;
}

// Bytes of a segment that a rank sends in one phase, by axis and Direction.
using AxisBytes = std::map<std::pair<std::size_t, Direction>, std::uint64_t>;

AxisBytes expected_bytes(const Program& program, Phase phase, std::uint32_t segment,
                         RingStyle style) {
  const RankGrid& grid = program.grid();
  const std::vector<std::size_t>& axes = program.partition.segment(segment).axes;
  AxisBytes expected;
  std::uint64_t gathered = 1;  // shards per chunk
  for (std::size_t stage = axes.size(); stage-- > 0;) {
    const std::uint32_t length = grid.length(axes[stage]);
    // An AllGather sends the shards of a chunk as they were encoded, one by one.
    const std::uint64_t chunk =
        phase == Phase::all_gather
            ? gathered * chunk_bytes(program, phase, segment, 0)
            : chunk_bytes(program, phase, segment,
                          static_cast<std::uint32_t>(axes.size() - 1 - stage));
    if (style == RingStyle::full_loop) {
      const Direction direction = segment % 2 == 0 ? Direction::forward : Direction::backward;
      expected[{axes[stage], direction}] = (length - 1) * chunk;
    } else {
      expected[{axes[stage], Direction::forward}] = length / 2 * chunk;
      if (length > 2) expected[{axes[stage], Direction::backward}] = ((length + 1) / 2 - 1) * chunk;
    }
    gathered *= length;
  }
  return expected;
}

// Axis and Direction of an offset of one step. On an axis of length 2, both directions are equal.
std::pair<std::size_t, Direction> way_of(const Program& program, ChannelId channel) {
  const RankGrid& grid = program.grid();
  const Channel& of = program.channels[channel];
  for (std::size_t axis = 0; axis < grid.axes(); ++axis) {
    const bool backward = of.name.starts_with("backward");
    const Offset step = grid.along(axis, backward ? grid.length(axis) - 1 : 1);
    if (of.offset == step) return {axis, backward ? Direction::backward : Direction::forward};
  }
  FAIL("channel " << of.name << " leads to no neighbour");
  return {};
}

AxisBytes sent_bytes(const Program& program, Phase phase, std::uint32_t segment) {
  AxisBytes sent;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op != Op::send || instruction.phase != phase) continue;
    const Message& message = program.messages[instruction.message];
    if (program.buffers[message.buffer].tile.segment != segment) continue;
    sent[way_of(program, message.channel)] += program.message_bytes(instruction.message);
  }
  return sent;
}

}  // namespace

TEST_CASE("every torus is a valid program with the requested properties") {
  for_each_torus([](const Program& program, const RingOptions& options) {
    REQUIRE_NOTHROW(validate(program));
    REQUIRE(is_uniform(program));
    REQUIRE(program.collective == options.collective);
    REQUIRE(program.partition.segments() >= program.grid().axes() * ring_segments(options.style));
  });
}

TEST_CASE("bytes per segment, phase, axis and direction: (p - 1) chunks per stage") {
  for_each_torus([](const Program& program, const RingOptions& options) {
    for (std::uint32_t segment = 0; segment < program.partition.segments(); ++segment)
      for (const Phase phase : {Phase::reduce_scatter, Phase::all_gather}) {
        CAPTURE(segment, name(phase));
        const bool runs = phase == Phase::reduce_scatter
                              ? options.collective != Collective::all_gather
                              : options.collective != Collective::reduce_scatter;
        const AxisBytes expected =
            runs ? expected_bytes(program, phase, segment, options.style) : AxisBytes{};
        REQUIRE(sent_bytes(program, phase, segment) == expected);
      }
  });
}

TEST_CASE("the wire bytes of a plain AllReduce are 2 (N - 1) / N of the tensor per rank") {
  for (const Lengths& lengths : kGrids) {
    const RankGrid grid(lengths);
    const std::uint64_t elements = std::uint64_t{grid.ranks()} * 2 * lengths.size() * 60;
    for (const RingStyle style : kStyles) {
      CAPTURE(lengths, name(style));
      const Program program = make_ring_program(grid, elements, ElementFormat::bf16,
                                                ring(style, {false, false}, int8_strided(), 1, 4));
      const auto sent = equarx::collectives::sent_bytes(program);
      REQUIRE(std::accumulate(sent.begin(), sent.end(), std::uint64_t{0}) ==
              2 * 2 * elements / grid.ranks() * (grid.ranks() - 1));
    }
  }
}

TEST_CASE("all links of a torus with equal axes carry the same bytes") {
  for (const Lengths& lengths : {Lengths{3, 3}, Lengths{4, 4}, Lengths{4, 4, 4}}) {
    const RankGrid grid(lengths);
    const std::uint64_t elements = std::uint64_t{grid.ranks()} * 2 * lengths.size() * 60;
    const Program program =
        make_ring_program(grid, elements, ElementFormat::bf16,
                          ring(RingStyle::full_loop, {false, false}, int8_strided(), 1, 1));
    std::map<Offset, std::uint64_t> by_link;
    const auto sent = equarx::collectives::sent_bytes(program);
    for (ChannelId channel = 0; channel < sent.size(); ++channel)
      by_link[program.channels[channel].offset] += sent[channel];
    REQUIRE(by_link.size() == 2 * lengths.size());
    for (const auto& [offset, bytes] : by_link) REQUIRE(bytes == by_link.begin()->second);
  }
}

TEST_CASE("all links of a torus with unequal axes carry the same bytes, to 2 %") {
  for (const Lengths& lengths : {Lengths{4, 8}, Lengths{8, 16}, Lengths{4, 4, 8}, Lengths{4, 2}}) {
    const Program program =
        make_ring_program(RankGrid(lengths), 1 << 27, ElementFormat::bf16,
                          ring(RingStyle::full_loop, {false, false}, int8_strided(), 1, 1));
    std::map<Offset, double> by_link;
    const auto sent = equarx::collectives::sent_bytes(program);
    for (ChannelId channel = 0; channel < sent.size(); ++channel)
      by_link[program.channels[channel].offset] += static_cast<double>(sent[channel]);
    double sum = 0.0;
    for (const auto& [offset, bytes] : by_link) sum += bytes;
    CAPTURE(lengths);
    for (const auto& [offset, bytes] : by_link)
      REQUIRE(bytes == Approx(sum / static_cast<double>(by_link.size())).epsilon(0.02));
  }
}

TEST_CASE("a gathered message carries the buffers of all ranks along the finished axes") {
  for_each_torus([](const Program& program, const RingOptions&) {
    const RankGrid& grid = program.grid();
    for (MessageId id = 0; id < program.messages.size(); ++id) {
      const Message& message = program.messages[id];
      const Buffer& buffer = program.buffers[message.buffer];
      const std::vector<std::size_t>& axes = program.partition.segment(buffer.tile.segment).axes;
      const std::size_t axis = way_of(program, message.channel).first;
      AxisSet done = 0;
      if (buffer.phase == Phase::all_gather)
        for (auto later = std::ranges::find(axes, axis) + 1; later != axes.end(); ++later)
          done |= AxisSet{1} << *later;
      REQUIRE(message.origin.gathered == done);
      REQUIRE(program.message_bytes(id) == buffer.bytes * grid.span(done));
      REQUIRE(program.received(message).gathered == done);
    }
  });
}

TEST_CASE("a grid of twos without rotation is recursive halving and doubling") {
  RingOptions options = ring(RingStyle::semi_loop, {false, false}, {}, 1, 1);
  options.rotate_axes = false;
  const Program program =
      make_ring_program(RankGrid({2, 2, 2, 2}), 16'000, ElementFormat::bf16, options);
  REQUIRE(program.channels.size() == 4);
  REQUIRE(program.messages.size() == 2 * 4);
  // Half of the tensor, a quarter, an eighth, a sixteenth, and back.
  std::vector<std::uint64_t> bytes;
  for (MessageId id = 0; id < program.messages.size(); ++id)
    bytes.push_back(program.message_bytes(id));
  REQUIRE(bytes ==
          std::vector<std::uint64_t>{16'000, 8'000, 4'000, 2'000, 2'000, 4'000, 8'000, 16'000});
}

TEST_CASE("a torus does not support AllToAll and Broadcast") {
  RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 1, 1);
  for (const Collective collective : {Collective::all_to_all, Collective::broadcast}) {
    options.collective = collective;
    REQUIRE_THROWS_AS(make_ring_program(RankGrid({3, 3}), kElements, ElementFormat::bf16, options),
                      std::logic_error);
  }
}

}  // namespace equarx::ring_program_torus_test
