#include "models/collectives/node_ring_program.hpp"

#include <set>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::node_ring_program_test {
namespace {

using numerics::ElementFormat;

constexpr numerics::BlockFormat kBf16{.element = ElementFormat::bf16};

Program make(Collective collective, std::uint32_t nodes, std::uint32_t chips,
             std::uint64_t elements) {
  return make_node_rings(collective, RankGrid({nodes, chips}), elements, ElementFormat::bf16,
                         {kBf16, kBf16, {.microshards = 1}});
}

TEST_CASE("every chip sends all shards but its own, and an equal part of them to another node") {
  for (const auto& [nodes, chips] : {std::pair{2U, 2U}, std::pair{3U, 4U}, std::pair{4U, 8U}}) {
    CAPTURE(nodes, chips);
    const std::uint32_t ranks = nodes * chips;
    const std::uint64_t elements = std::uint64_t{1024} * ranks * chips;
    const Program program = make(Collective::all_gather, nodes, chips, elements);
    REQUIRE(program.channels.size() == chips);
    for (ChannelId channel = 0; channel < chips; ++channel) {
      CHECK(sent_bytes(program)[channel] == 2 * elements / ranks / chips * (ranks - 1));
      const Rank to = program.grid().move(0, program.channels[channel].offset);
      CHECK(program.grid().coordinate(to, 1) == 1);
      CHECK(program.grid().coordinate(to, 0) == (channel + 1 == chips ? 1U : 0U));
    }
    CHECK(is_uniform(program));
    CHECK(stream_count(program) == chips);
  }
}

TEST_CASE("an AllReduce has the steps of a ReduceScatter and of an AllGather") {
  const std::uint64_t elements = std::uint64_t{1024} * 12 * 4;
  const auto messages = [&](Collective collective) {
    return make(collective, 3, 4, elements).messages.size();
  };
  CHECK(messages(Collective::reduce_scatter) == 4 * 11);
  CHECK(messages(Collective::all_reduce) ==
        messages(Collective::reduce_scatter) + messages(Collective::all_gather));
}

TEST_CASE("a stream receives in one channel and sends in one") {
  const Program program = make(Collective::all_reduce, 2, 4, std::uint64_t{1024} * 32);
  std::vector<std::set<std::uint32_t>> receiving(program.channels.size());
  std::vector<std::set<std::uint32_t>> sending(program.channels.size());
  for (const Instruction& instruction : program.instructions) {
    if (!is_transfer(instruction.op)) continue;
    const ChannelId channel = program.messages[instruction.message].channel;
    (instruction.op == Op::send ? sending : receiving)[channel].insert(instruction.stream);
  }
  for (std::uint32_t channel = 0; channel < program.channels.size(); ++channel) {
    CHECK(sending[channel] == std::set<std::uint32_t>{channel});
    CHECK(receiving[channel] == std::set<std::uint32_t>{(channel + 1) % 4});
  }
}

TEST_CASE("rings across nodes refuse scales and too few elements") {
  const numerics::BlockFormat int8{.element = ElementFormat::int8, .scaled = true};
  CHECK_THROWS_AS(make_node_rings(Collective::all_reduce, RankGrid({2, 2}), 4096,
                                  ElementFormat::bf16, {int8, int8, {}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(make(Collective::all_reduce, 2, 8, 8), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::collectives::node_ring_program_test
