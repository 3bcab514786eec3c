#include "models/steps/permute_program.hpp"

#include <algorithm>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::steps::permute_program_test {
namespace {

using collectives::Op;

TEST_CASE("senders start a message, receivers wait for it, other chips are idle") {
  // Chip 5 only sends, 0 does both, 2 only receives; 1, 3 and 4 have no role.
  const PermuteProgram made = permute_program({{5, 0}, {0, 2}, {3, 3}}, 6, 1000);
  CHECK(made.peer_of_chip == std::vector<std::uint32_t>{2, 1, 2, 3, 4, 0});
  CHECK(made.program.message_bytes(0) == 1000);
  const auto does = [&](std::uint32_t chip, Op op) {
    for (const collectives::Instruction& instruction : made.program.instructions)
      if (instruction.op == op && instruction.ranks.contains(made.rank_of_chip[chip])) return true;
    return false;
  };
  for (std::uint32_t chip = 0; chip < 6; ++chip) {
    CHECK(does(chip, Op::send) == (chip == 5 || chip == 0));
    CHECK(does(chip, Op::wait) == (chip == 0 || chip == 2));
  }
  std::vector<collectives::Rank> ranks = made.rank_of_chip;
  std::ranges::sort(ranks);
  CHECK(ranks == std::vector<collectives::Rank>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("in a ring all chips send and receive") {
  const PermuteProgram made = permute_program({{0, 1}, {1, 0}}, 2, 1);
  for (const collectives::Instruction& instruction : made.program.instructions)
    CHECK((instruction.ranks.first == 0 && instruction.ranks.last == 1));
}

}  // namespace
}  // namespace equarx::steps::permute_program_test
