#include "models/collectives/tree_program.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::tree_program_test {
namespace {

using numerics::ElementFormat;

constexpr std::uint64_t kElements = 1000;
constexpr numerics::BlockFormat kFp16{.element = ElementFormat::fp16};

Program make(std::size_t axes, std::uint32_t minishards = 1, std::uint32_t microshards = 1) {
  return make_binomial_tree(RankGrid(std::vector<std::uint32_t>(axes, 2)), kElements,
                            ElementFormat::fp16,
                            {kFp16, kFp16, {.minishards = minishards, .microshards = microshards}});
}

TEST_CASE("a binomial tree: every rank except the root sends its sum up once and gets the result") {
  for (std::size_t axes = 1; axes <= 5; ++axes)
    for (const auto& [minishards, microshards] :
         {std::pair{1U, 1U}, std::pair{1U, 3U}, std::pair{2U, 3U}}) {
      CAPTURE(axes, minishards, microshards);
      const Program program = make(axes, minishards, microshards);
      const std::uint32_t parts = minishards * microshards;
      REQUIRE_NOTHROW(validate(program));
      const std::uint32_t ranks = 1U << axes;
      CHECK(total_messages(program, ranks) == 2U * (ranks - 1) * parts);
      std::uint64_t bytes = 0;
      for (const std::uint64_t channel : total_sent_bytes(program)) bytes += channel;
      CHECK(bytes == 2 * kElements * 2 * (ranks - 1));
      const auto adds = std::ranges::count(program.instructions, Op::add, &Instruction::op);
      CHECK(adds == static_cast<std::ptrdiff_t>((ranks - 1) * parts));
    }
}

TEST_CASE("a binomial tree: in each round half of the remaining ranks send to the others") {
  const Program program = make(3);
  std::vector<std::pair<Rank, Rank>> up;
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == Op::send && instruction.phase == Phase::reduce_scatter) {
      const Rank rank = instruction.ranks.first;
      const Message& message = program.messages[instruction.message];
      up.emplace_back(rank, program.grid().move(rank, program.channels[message.channel].offset));
    }
  CHECK(up ==
        std::vector<std::pair<Rank, Rank>>{{4, 0}, {5, 1}, {6, 2}, {7, 3}, {2, 0}, {3, 1}, {1, 0}});
}

TEST_CASE("a binomial tree requires a power of two of ranks and formats without scales") {
  const ExchangeOptions plain{kFp16, kFp16, {}};
  CHECK_THROWS_AS(make_binomial_tree(RankGrid({3}), kElements, ElementFormat::fp16, plain),
                  std::invalid_argument);
  const numerics::BlockFormat int8{.element = ElementFormat::int8, .scaled = true};
  CHECK_THROWS_AS(
      make_binomial_tree(RankGrid({2}), kElements, ElementFormat::fp16, {int8, int8, {}}),
      std::invalid_argument);
}

TEST_CASE("a tree that reads a buffer before it has arrived is rejected") {
  Program program = make(2);
  const auto add = std::ranges::find(program.instructions, Op::add, &Instruction::op);
  REQUIRE(std::prev(add)->op == Op::wait);
  std::iter_swap(add, std::prev(add));
  CHECK_THROWS_AS(validate(program), std::logic_error);
}

}  // namespace
}  // namespace equarx::collectives::tree_program_test
