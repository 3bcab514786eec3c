#include "models/collectives/broadcast_program.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::broadcast_program_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

namespace {

constexpr std::uint32_t kRanks[] = {2, 3, 4, 5, 8};
constexpr std::uint64_t kElements = 20'011;

BroadcastOptions broadcast(RingStyle style, bool quantized, std::uint32_t minishards = 2,
                           std::uint32_t microshards = 3) {
  return {.style = style,
          .format = quantized ? int8_blocks(32) : plain(ElementFormat::bf16),
          .cut = {.minishards = minishards, .microshards = microshards}};
}

std::uint64_t segment_bytes(const Program& program) {
  const Partition& partition = program.partition;
  const BlockFormat& format = program.format(Phase::all_gather);
  std::uint64_t bytes = payload_bytes(format, partition.chunk_elements(0));
  for (std::uint32_t i = 0; i < partition.cut(0).minishards; ++i)
    bytes += scale_count(format, partition.minishard({.minishard = i}).size()) *
             scale_bytes(format.scale);
  return bytes;
}

std::uint64_t total(const std::vector<std::uint64_t>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("a full-loop broadcast sends half each way, forwarded by all but the last rank") {
  for (const std::uint32_t ranks : kRanks)
    for (const bool quantized : {false, true}) {
      CAPTURE(ranks, quantized);
      const Program program = make_ring_broadcast(ranks, kElements, ElementFormat::bf16,
                                                  broadcast(RingStyle::full_loop, quantized));
      REQUIRE_NOTHROW(validate(program));
      REQUIRE(program.collective == Collective::broadcast);
      REQUIRE_FALSE(is_uniform(program));
      REQUIRE(program.channels.size() == 2);
      const std::uint64_t half = segment_bytes(program);
      for (Rank rank = 0; rank < ranks; ++rank) {
        const auto sent = sent_bytes(program, rank);
        REQUIRE(sent[0] == (rank + 1 < ranks ? half : 0));  // the last rank is the root's neighbour
        REQUIRE(sent[1] == (rank != 1 ? half : 0));
      }
    }
}

TEST_CASE("a semi-loop broadcast sends the whole tensor both ways, meeting half way") {
  for (const std::uint32_t ranks : kRanks) {
    CAPTURE(ranks);
    const Program program = make_ring_broadcast(ranks, kElements, ElementFormat::bf16,
                                                broadcast(RingStyle::semi_loop, true));
    REQUIRE_NOTHROW(validate(program));
    const std::uint64_t whole = segment_bytes(program);
    REQUIRE(program.partition.chunk_elements(0) == kElements);
    REQUIRE(program.channels.size() == (ranks == 2 ? 1 : 2));
    std::uint64_t sent = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto bytes = sent_bytes(program, rank);
      REQUIRE(bytes[0] == (rank < ranks / 2 ? whole : 0));
      sent += total(bytes);
    }
    REQUIRE(sent == (ranks - 1) * whole);  // each rank except the root receives it once
    REQUIRE(total(sent_bytes(program, 0)) == program.channels.size() * whole);
  }
}

TEST_CASE("a direct broadcast sends the whole tensor from the root to each rank") {
  for (const std::uint32_t ranks : kRanks)
    for (const bool quantized : {false, true}) {
      CAPTURE(ranks, quantized);
      const Program program = make_direct_broadcast(ranks, kElements, ElementFormat::bf16,
                                                    broadcast(RingStyle::full_loop, quantized));
      REQUIRE_NOTHROW(validate(program));
      REQUIRE(sent_bytes(program, 0) ==
              std::vector<std::uint64_t>(ranks - 1, segment_bytes(program)));
      for (Rank rank = 1; rank < ranks; ++rank) REQUIRE(total(sent_bytes(program, rank)) == 0);
    }
}

TEST_CASE("only the root encodes, and every rank receives the whole tensor") {
  for (const RingStyle style : kStyles)
    for (const bool quantized : {false, true}) {
      const Program program =
          make_ring_broadcast(5, kElements, ElementFormat::bf16, broadcast(style, quantized));
      std::vector<std::uint64_t> delivered(5);
      for (const Instruction& instruction : program.instructions) {
        const bool makes = instruction.op == Op::find_scales ||
                           instruction.op == Op::encode_scales || instruction.op == Op::quantize ||
                           instruction.op == Op::lend;
        if (makes) REQUIRE(instruction.ranks == RankRange{0, 0});
        if (instruction.op != Op::deliver && instruction.op != Op::dequantize) continue;
        for (Rank rank = 0; rank < 5; ++rank)
          if (instruction.ranks.contains(rank))
            delivered[rank] += program.partition.microshard(instruction.tile).size();
      }
      for (const std::uint64_t elements : delivered)
        REQUIRE(elements == program.partition.segments() * program.partition.segment_elements(0));
    }
}

TEST_CASE("a broadcast to no rank, of no element, or in too many parts is refused") {
  for (const std::uint32_t ranks : {0U, 1U}) {
    REQUIRE_THROWS_WITH(make_ring_broadcast(ranks, kElements, ElementFormat::bf16,
                                            broadcast(RingStyle::full_loop, true)),
                        ContainsSubstring("at least two"));
    REQUIRE_THROWS_WITH(make_direct_broadcast(ranks, kElements, ElementFormat::bf16,
                                              broadcast(RingStyle::full_loop, true)),
                        ContainsSubstring("at least two"));
  }
  REQUIRE_THROWS_AS(
      make_ring_broadcast(4, 0, ElementFormat::bf16, broadcast(RingStyle::full_loop, true)),
      std::invalid_argument);
  REQUIRE_THROWS_AS(
      make_ring_broadcast(4, 10, ElementFormat::bf16, broadcast(RingStyle::full_loop, true)),
      std::invalid_argument);
  REQUIRE_NOTHROW(
      make_ring_broadcast(4, 11, ElementFormat::bf16, broadcast(RingStyle::full_loop, true)));
}

}  // namespace equarx::broadcast_program_test
