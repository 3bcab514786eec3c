#include "models/collectives/neighbor_program.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::neighbor_program_test {
namespace {

using numerics::ElementFormat;

constexpr std::uint64_t kElements = 16'384;
constexpr numerics::BlockFormat kFp16{.element = ElementFormat::fp16};
constexpr numerics::BlockFormat kInt8{.element = ElementFormat::int8, .scaled = true};
const RankGraph kStar(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});

Program make(const RankGraph& graph, const numerics::BlockFormat& format,
             std::uint32_t minishards = 1, std::uint32_t microshards = 1) {
  return make_neighbor_average(
      graph, kElements, ElementFormat::fp16,
      {format, format, {.minishards = minishards, .microshards = microshards}});
}

std::uint64_t bytes_of(const Program& program, Rank rank) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t channel : sent_bytes(program, rank)) bytes += channel;
  return bytes;
}

TEST_CASE("every rank sends its tensor once to each neighbour") {
  for (const auto& [minishards, microshards] :
       {std::pair{1U, 1U}, std::pair{1U, 3U}, std::pair{2U, 3U}}) {
    CAPTURE(minishards, microshards);
    const Program program = make(kStar, kFp16, minishards, microshards);
    REQUIRE_NOTHROW(validate(program));
    CHECK(bytes_of(program, 0) == 4 * 2 * kElements);
    for (Rank rank = 1; rank < 5; ++rank) CHECK(bytes_of(program, rank) == 2 * kElements);
    CHECK(total_messages(program, 5) == std::uint64_t{8} * minishards * microshards);
    CHECK(std::ranges::count(program.instructions, Op::accumulate, &Instruction::op) ==
          static_cast<std::ptrdiff_t>(8) * minishards * microshards);
  }
}

TEST_CASE("a tensor is encoded once for all neighbours") {
  const Program program = make(kStar, kInt8, 2, 2);
  REQUIRE_NOTHROW(validate(program));
  CHECK(std::ranges::count(program.instructions, Op::quantize, &Instruction::op) == 4);
  CHECK(bytes_of(program, 0) < 4 * 2 * kElements);
  CHECK(bytes_of(program, 0) == 4 * bytes_of(program, 3));
}

TEST_CASE("two ranks send in one channel, a ring in two") {
  CHECK(make(RankGraph(2, {{0, 1}}), kFp16).channels.size() == 1);
  CHECK(make(RankGraph(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), kFp16).channels.size() == 2);
}

TEST_CASE("parts need elements") {
  CHECK_THROWS_AS(make_neighbor_average(kStar, 3, ElementFormat::fp16,
                                        {kFp16, kFp16, {.minishards = 4, .microshards = 1}}),
                  std::invalid_argument);
}

TEST_CASE("an invalid program without a term's message is found") {
  Program program = make(kStar, kFp16);
  std::erase_if(program.instructions, [](const Instruction& instruction) {
    return instruction.op == Op::wait && instruction.ranks.contains(3);
  });
  CHECK_THROWS_AS(validate(program), std::logic_error);
  program = make(kStar, kFp16);
  std::erase_if(program.instructions, [](const Instruction& instruction) {
    return instruction.op == Op::store && instruction.ranks.contains(3);
  });
  CHECK_THROWS_AS(validate(program), std::logic_error);
}

}  // namespace
}  // namespace equarx::collectives::neighbor_program_test
