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

/// Two segments of chunks cut by axis 1, on a grid of 2 x 3.
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

TEST_CASE("an exchange uses its axis only, with one channel per round") {
  ProgramWriter written = writer(Collective::all_reduce);
  DirectExchange exchange(written, {.axis = 1});
  exchange.scatter();
  exchange.gather(Operand::sums);
  const Program program = std::move(written).finish();
  REQUIRE(program.channels.size() == 2);
  CHECK(program.channels[0].offset == 1);
  CHECK(program.channels[0].name == "to rank + 1 along axis 1");
  CHECK(program.channels[1].offset == 2);
  // A third of the tensor to each peer, in both phases.
  CHECK(sent_bytes(program) == std::vector<std::uint64_t>{8'000, 8'000});
}

TEST_CASE("all segments are exchanged together and summed at their owners") {
  ProgramWriter written = writer(Collective::reduce_scatter);
  DirectExchange exchange(written, {.axis = 1});
  exchange.scatter();
  exchange.store_sums();
  // Validates that every element reaches the result.
  const Program program = std::move(written).finish();
  std::uint32_t segments = 0;
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == Op::store) segments |= 1U << instruction.tile.segment;
  CHECK(segments == 0b11);
}

TEST_CASE("the values for a further stage are decoded in place, the own part included") {
  ProgramWriter written = writer(Collective::all_gather);
  DirectExchange exchange(written, {.axis = 1});
  exchange.gather(Operand::input, DirectExchange::Arrivals::values);
  const auto& instructions = written.program().instructions;
  const auto decodes =
      std::ranges::count_if(instructions, [](const auto& i) { return i.op == Op::decode; });
  CHECK(decodes == 3 * 2 * 2);  // three ranks, two segments, two minishards
  CHECK(std::ranges::none_of(instructions, [](const auto& i) { return i.op == Op::deliver; }));
}

}  // namespace equarx::direct_exchange_test
