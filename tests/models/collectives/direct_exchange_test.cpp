#include "models/collectives/direct_exchange.hpp"

#include <algorithm>

#include "models/collectives/traffic.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::direct_exchange_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;

namespace {

constexpr std::uint64_t kElements = 6'000;

/// Two segments of chunks that axis 1 cuts, on a grid of 2 x 3.
ProgramWriter writer(Collective collective) {
  const equarx::numerics::BlockFormat bf16 = plain(ElementFormat::bf16);
  const Segment segment{{1}, {{2, 1}}};
  return ProgramWriter({collective,
                        Partition(kElements, RankGrid({2, 3}), {segment, segment}),
                        ElementFormat::bf16,
                        {bf16, bf16},
                        {},
                        {},
                        {},
                        {}});
}

}  // namespace

TEST_CASE("an exchange goes along its axis only, over one channel for each round") {
  ProgramWriter written = writer(Collective::all_reduce);
  DirectExchange exchange(written, {.axis = 1});
  exchange.scatter();
  exchange.gather(Operand::sums);
  const Program program = std::move(written).finish();
  REQUIRE(program.channels.size() == 2);
  CHECK(program.channels[0].offset == 1);
  CHECK(program.channels[0].name == "to rank + 1 along axis 1");
  CHECK(program.channels[1].offset == 2);
  // A third of the tensor to either peer, in both phases.
  CHECK(sent_bytes(program) == std::vector<std::uint64_t>{8'000, 8'000});
}

TEST_CASE("all segments are exchanged together, and summed where they belong") {
  ProgramWriter written = writer(Collective::reduce_scatter);
  DirectExchange exchange(written, {.axis = 1});
  exchange.scatter();
  exchange.store_sums();
  const Program program = std::move(written).finish();  // validates that all reaches the result
  std::uint32_t segments = 0;
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == Op::store) segments |= 1U << instruction.tile.segment;
  CHECK(segments == 0b11);
}

TEST_CASE("what a further stage sends is decoded in place of what a rank had, its own part too") {
  ProgramWriter written = writer(Collective::all_gather);
  DirectExchange exchange(written, {.axis = 1});
  exchange.gather(Operand::input, DirectExchange::Arrivals::values);
  const auto& instructions = written.program().instructions;
  const auto decodes =
      std::ranges::count_if(instructions, [](const auto& i) { return i.op == Op::decode; });
  CHECK(decodes == 3 * 2 * 2);  // of three ranks, two segments, two minishards
  CHECK(std::ranges::none_of(instructions, [](const auto& i) { return i.op == Op::deliver; }));
}

}  // namespace equarx::direct_exchange_test
