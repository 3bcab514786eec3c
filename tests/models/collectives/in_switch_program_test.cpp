#include "models/collectives/in_switch_program.hpp"

#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "models/collectives/work.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::in_switch_program_test {
namespace {

using numerics::ElementFormat;

constexpr std::uint64_t kElements = 8 * 1024 * 1024;  // 16 MiB of bf16

Program make(std::uint32_t ranks, std::optional<std::uint32_t> microshards = std::nullopt,
             std::uint64_t elements = kElements) {
  return make_in_switch_all_reduce(
      ranks, elements, ElementFormat::bf16,
      {{.element = ElementFormat::bf16}, {.element = ElementFormat::bf16}, {1, microshards, 128}});
}

TEST_CASE("every rank sends and receives its tensor and an Nth once") {
  for (const std::uint32_t ranks : {3U, 4U, 8U, 72U}) {
    CAPTURE(ranks);
    const Program program = make(ranks, 8);
    REQUIRE(program.channels.size() == 2);
    CHECK(program.channels[0].ports == Ports::senders);
    CHECK(program.channels[1].ports == Ports::receivers);
    CHECK(program.channels[0].offset != program.channels[1].offset);
    const double bytes = 2.0 * kElements * (1.0 + 1.0 / ranks);
    for (const std::uint64_t sent : sent_bytes(program))
      CHECK(static_cast<double>(sent) == Approx(bytes).margin(8.0));
  }
}

TEST_CASE("pieces are NCCL's, a chunk of 16 channels to each owner, unless their number is given") {
  constexpr std::uint64_t kMebi = 1024 * 1024;
  CHECK(switch_piece_bytes(8, 4096 * kMebi) == 16 * kMebi);  // 128 KiB x 16 x 8
  CHECK(switch_piece_bytes(8, 512 * kMebi) == 8 * kMebi);
  CHECK(switch_piece_bytes(8, 64 * kMebi) == 8 * kMebi);
  CHECK(switch_piece_bytes(8, 63 * kMebi) == 4 * kMebi);
  CHECK(switch_piece_bytes(8, 7 * kMebi) == 2 * kMebi);
  CHECK(switch_piece_bytes(4, 512 * kMebi) == 8 * kMebi);
  CHECK(make(8).partition.cut(0).microshards == 4);  // 16 MiB in pieces of 4 MiB
  CHECK(make(8, std::nullopt, 1000).partition.cut(0).microshards == 1);
  CHECK(make(8, 3).partition.cut(0).microshards == 3);
}

TEST_CASE("cores neither add nor copy") {
  const Program program = make(8, 4);
  for (const Instruction& instruction : program.instructions)
    CHECK_FALSE(is_vector_work(instruction.op));
}

TEST_CASE("a sum in the switch needs the terms to have arrived") {
  Program program = make(4, 2);
  program.channels[0].ports = Ports::both;  // then only one rank's terms arrive
  REQUIRE_THROWS_WITH(validate(program), ContainsSubstring("before it is available"));
}

ExchangeOptions plain(std::uint32_t microshards) {
  return {
      {.element = ElementFormat::bf16}, {.element = ElementFormat::bf16}, {1, microshards, 128}};
}

TEST_CASE("a ReduceScatter carries all terms to the switch, an AllGather all shards from it") {
  for (const std::uint32_t ranks : {3U, 4U, 8U}) {
    CAPTURE(ranks);
    const std::uint64_t elements = std::uint64_t{1024} * 12 * ranks;
    for (const Program& program :
         {make_in_switch_reduce_scatter(ranks, elements, ElementFormat::bf16, plain(3)),
          make_in_switch_all_gather(ranks, elements, ElementFormat::bf16, plain(3))}) {
      const bool gathers = program.collective == Collective::all_gather;
      REQUIRE(program.channels.size() == 1);
      CHECK(program.channels[0].ports == (gathers ? Ports::receivers : Ports::senders));
      CHECK(sent_bytes(program).front() == 2 * elements);
      CHECK(program.messages.size() == (gathers ? 3 : 3 * ranks));
      CHECK(is_uniform(program));
    }
  }
}

TEST_CASE("a ReduceScatter in the switch stores sums of the own shard only") {
  const Program program = make_in_switch_reduce_scatter(4, 4096, ElementFormat::bf16, plain(2));
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == Op::switch_reduce || instruction.op == Op::store)
      CHECK(instruction.tile.shard_offset == 0);
}

TEST_CASE("two ranks are refused") {
  REQUIRE_THROWS_WITH(make(2), "sums in a switch need at least 3 chips, and there are 2 here");
}

}  // namespace
}  // namespace equarx::collectives::in_switch_program_test
