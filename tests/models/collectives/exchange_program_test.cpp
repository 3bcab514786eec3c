#include "models/collectives/exchange_program.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "models/collectives/direct_exchange.hpp"
#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::exchange_program_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

namespace {

constexpr std::uint32_t kRanks[] = {2, 3, 4, 7, 8, 9, 16};  // around kShardsUnderWay as well
constexpr std::uint64_t kElements = 20'011;
constexpr Collective kDirect[] = {Collective::all_reduce, Collective::reduce_scatter,
                                  Collective::all_gather, Collective::all_to_all};

ExchangeOptions exchange(Quantized phases, std::uint32_t minishards, std::uint32_t microshards) {
  const RingOptions options =
      ring(RingStyle::full_loop, phases, int8_blocks(32), minishards, microshards);
  return {options.reduce_scatter, options.all_gather, options.cut};
}

std::uint64_t chunk_bytes(const Program& program, Phase phase) {
  const Partition& partition = program.partition;
  const BlockFormat& format = program.format(phase);
  std::uint64_t bytes = payload_bytes(format, partition.chunk_elements(0));
  for (std::uint32_t i = 0; i < partition.cut(0).minishards; ++i)
    bytes += scale_count(format, partition.minishard({.minishard = i}).size()) *
             scale_bytes(format.scale);
  return bytes;
}

std::size_t chunk_messages(const Program& program, Phase phase) {
  const Cut& cut = program.partition.cut(0);
  return cut.minishards * (cut.microshards + (program.format(phase).scaled ? 1U : 0U));
}

std::size_t count(const Program& program, Op op, Phase phase) {
  return static_cast<std::size_t>(std::ranges::count_if(
      program.instructions, [&](const auto& i) { return i.op == op && i.phase == phase; }));
}

}  // namespace

TEST_CASE("a direct exchange sends each other rank one shard in each phase") {
  for (const std::uint32_t ranks : kRanks)
    for (const Collective collective : kDirect)
      for (const Quantized phases : kQuantized) {
        CAPTURE(ranks, name(collective), phases.reduce_scatter, phases.all_gather);
        const Program program = make_direct_exchange(collective, ranks, kElements,
                                                     ElementFormat::bf16, exchange(phases, 2, 3));
        REQUIRE_NOTHROW(validate(program));
        REQUIRE(is_uniform(program));
        REQUIRE(program.channels.size() == ranks - 1);
        std::uint64_t bytes = 0;
        std::size_t messages = 0;
        if (collective != Collective::all_gather) {
          bytes += chunk_bytes(program, Phase::reduce_scatter);
          messages += chunk_messages(program, Phase::reduce_scatter);
        }
        if (collective == Collective::all_gather || collective == Collective::all_reduce) {
          bytes += chunk_bytes(program, Phase::all_gather);
          messages += chunk_messages(program, Phase::all_gather);
        }
        REQUIRE(sent_bytes(program) == std::vector<std::uint64_t>(ranks - 1, bytes));
        REQUIRE(program.messages.size() == (ranks - 1) * messages);
        std::set<Offset> peers;
        for (const Channel& channel : program.channels) peers.insert(channel.offset);
        REQUIRE(peers.size() == ranks - 1);
        REQUIRE(!peers.contains(0));
      }
}

TEST_CASE("two-shot encodes every term and every sum once") {
  const Program program = make_direct_exchange(Collective::all_reduce, 8, kElements,
                                               ElementFormat::bf16, exchange({true, true}, 2, 3));
  REQUIRE(count(program, Op::quantize, Phase::reduce_scatter) == 7 * 6);
  REQUIRE(count(program, Op::quantize, Phase::all_gather) == 6);
  REQUIRE(count(program, Op::accumulate, Phase::reduce_scatter) == 7 * 6);
  // The sum of the last term also computes the scales for the AllGather, which needs no pass of its
  // own.
  REQUIRE(count(program, Op::find_scales, Phase::all_gather) == 0);
  ExchangeOptions other = exchange({true, true}, 2, 3);
  other.all_gather = int8_blocks(16);
  REQUIRE(
      count(make_direct_exchange(Collective::all_reduce, 8, kElements, ElementFormat::bf16, other),
            Op::find_scales, Phase::all_gather) == 6);
}

TEST_CASE("a direct exchange keeps several rounds in flight, up to the limit") {
  const Program program = make_direct_exchange(Collective::all_gather, 20, kElements,
                                               ElementFormat::bf16, exchange({true, true}, 1, 1));
  int under_way = 0;
  int most = 0;
  for (const Instruction& instruction : program.instructions) {
    if (!is_transfer(instruction.op)) continue;
    if (program.buffers[program.messages[instruction.message].buffer].content == Content::scales)
      continue;
    under_way += instruction.op == Op::send ? 1 : -1;
    most = std::max(most, under_way);
  }
  REQUIRE(under_way == 0);
  REQUIRE(most == static_cast<int>(kShardsUnderWay));
}

TEST_CASE("a direct exchange sends a minishard to every rank before the next one") {
  // A chip with a full queue to one neighbour blocks, and all its other links would idle.
  constexpr std::uint32_t kMinishards = 4;
  const Program program =
      make_direct_exchange(Collective::all_reduce, 8, kElements, ElementFormat::bf16,
                           exchange({true, true}, kMinishards, 1));
  for (const Phase phase : {Phase::reduce_scatter, Phase::all_gather}) {
    std::vector<std::uint32_t> minishards;
    for (const Instruction& instruction : program.instructions)
      if (instruction.op == Op::send && instruction.phase == phase &&
          program.buffers[program.messages[instruction.message].buffer].content == Content::payload)
        minishards.push_back(program.tile(instruction).minishard);
    REQUIRE(minishards.size() == 7 * kMinishards);
    REQUIRE(std::ranges::is_sorted(minishards));
  }
}

TEST_CASE("one-shot sends the whole tensor to every other rank, encoded once") {
  for (const std::uint32_t ranks : kRanks)
    for (const Quantized phases : kQuantized) {
      CAPTURE(ranks, phases.reduce_scatter);
      const Program program =
          make_one_shot_all_reduce(ranks, kElements, ElementFormat::bf16, exchange(phases, 3, 2));
      REQUIRE_NOTHROW(validate(program));
      REQUIRE(program.collective == Collective::all_reduce);
      REQUIRE(program.partition.chunk_elements(0) == kElements);
      const std::uint64_t bytes = chunk_bytes(program, Phase::reduce_scatter);
      REQUIRE(sent_bytes(program) == std::vector<std::uint64_t>(ranks - 1, bytes));
      REQUIRE(program.messages.size() ==
              (ranks - 1) * chunk_messages(program, Phase::reduce_scatter));
      REQUIRE(count(program, Op::quantize, Phase::reduce_scatter) +
                  count(program, Op::lend, Phase::reduce_scatter) ==
              6);
      REQUIRE(count(program, Op::reduce, Phase::reduce_scatter) == 6);
      REQUIRE(count(program, Op::store, Phase::reduce_scatter) == 6);
    }
}

TEST_CASE("recursive doubling sends the whole tensor to one partner in each of log2 N rounds") {
  for (const std::size_t rounds : {1U, 2U, 3U, 5U})
    for (const Quantized phases : kQuantized) {
      CAPTURE(rounds, phases.reduce_scatter);
      const RankGrid grid(std::vector<std::uint32_t>(rounds, 2));
      const Program program =
          make_recursive_doubling(grid, kElements, ElementFormat::bf16, exchange(phases, 2, 2));
      REQUIRE_NOTHROW(validate(program));
      const std::uint64_t bytes = chunk_bytes(program, Phase::reduce_scatter);
      REQUIRE(sent_bytes(program) == std::vector<std::uint64_t>(rounds, bytes));
      REQUIRE(program.messages.size() == rounds * chunk_messages(program, Phase::reduce_scatter));
      for (std::size_t round = 0; round < rounds; ++round)
        REQUIRE(program.channels[round].offset == grid.along(round, 1));
      REQUIRE(count(program, Op::reduce, Phase::reduce_scatter) == rounds * 4);
      REQUIRE(count(program, Op::store, Phase::reduce_scatter) == 4);
    }
}

TEST_CASE("recursive doubling needs partners") {
  const ExchangeOptions options = exchange({true, true}, 1, 1);
  for (const std::vector<std::uint32_t>& lengths :
       {std::vector<std::uint32_t>{3}, {4}, {2, 3}, {2, 2, 4}})
    REQUIRE_THROWS_WITH(
        make_recursive_doubling(RankGrid(lengths), kElements, ElementFormat::bf16, options),
        ContainsSubstring("power of two"));
}

TEST_CASE("an exchange of one rank, of no element, or in too many parts is refused") {
  const ExchangeOptions options = exchange({true, true}, 2, 2);
  for (const std::uint32_t ranks : {0U, 1U}) {
    REQUIRE_THROWS_WITH(make_direct_exchange(Collective::all_reduce, ranks, kElements,
                                             ElementFormat::bf16, options),
                        ContainsSubstring("at least two"));
    REQUIRE_THROWS_WITH(make_one_shot_all_reduce(ranks, kElements, ElementFormat::bf16, options),
                        ContainsSubstring("at least two"));
  }
  for (const Collective collective : kDirect) {
    REQUIRE_THROWS_AS(make_direct_exchange(collective, 4, 0, ElementFormat::bf16, options),
                      std::invalid_argument);
    REQUIRE_THROWS_AS(make_direct_exchange(collective, 4, 12, ElementFormat::bf16, options),
                      std::invalid_argument);
    REQUIRE_NOTHROW(make_direct_exchange(collective, 4, 13, ElementFormat::bf16, options));
  }
  REQUIRE_THROWS_AS(make_one_shot_all_reduce(4, 3, ElementFormat::bf16, options),
                    std::invalid_argument);
  REQUIRE_NOTHROW(make_one_shot_all_reduce(4, 4, ElementFormat::bf16, options));
  REQUIRE_THROWS_AS(make_recursive_doubling(RankGrid({2, 2}), 3, ElementFormat::bf16, options),
                    std::invalid_argument);
}

TEST_CASE("a broadcast is not an exchange") {
  REQUIRE_THROWS_AS(make_direct_exchange(Collective::broadcast, 4, kElements, ElementFormat::bf16,
                                         exchange({true, true}, 1, 1)),
                    std::logic_error);
}

}  // namespace equarx::exchange_program_test
