#include "models/collectives/amax_exchange.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/casts.hpp"
#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::amax_exchange_test {
namespace {

using numerics::ElementFormat;

constexpr numerics::BlockFormat kFormat{.element = ElementFormat::fp8_e4m3,
                                        .rule = numerics::ScaleRule::fp8lm};

Program make(std::string_view algorithm, const RankGrid& grid,
             Collective collective = Collective::all_reduce) {
  return find_algorithm(algorithm)->make({.collective = collective,
                                          .grid = grid,
                                          .elements = 4099,
                                          .dtype = ElementFormat::fp8_e4m3,
                                          .reduce_scatter = kFormat,
                                          .all_gather = kFormat,
                                          .cut = {}});
}

std::size_t count(const Program& program, Op op) {
  return static_cast<std::size_t>(std::ranges::count(program.instructions, op, &Instruction::op));
}

struct Case {
  std::string_view algorithm;
  RankGrid grid;
  std::size_t steps;     ///< encodings per rank
  std::size_t messages;  ///< messages per rank
};

TEST_CASE("an amax goes directly to all ranks if there are channels, else along every axis") {
  const std::vector<Case> cases = {
      {"ring", RankGrid({2}), 1, 1},
      {"ring", RankGrid({8}), 4, 8},  // in both directions, up to the opposite rank
      {"ring", RankGrid({7}), 3, 6},
      {"torus", RankGrid({4, 4}), 4, 8},
      {"halving-doubling", RankGrid({2, 2, 2}), 3, 3},
      {"recursive-doubling", RankGrid({2, 2, 2}), 3, 3},
      {"one-shot", RankGrid({8}), 1, 7},
      {"two-shot", RankGrid({8}), 1, 7},
      {"binomial-tree", RankGrid({2, 2, 2}), 3, 3},
  };
  for (const auto& [algorithm, grid, steps, messages] : cases) {
    CAPTURE(algorithm, grid.ranks());
    const Program plain = make(algorithm, grid);
    const Program program = with_casts(plain, ElementFormat::fp32);
    REQUIRE_NOTHROW(validate(program));
    CHECK(count(program, Op::encode_amax) == steps);
    CHECK(count(program, Op::merge_amax) == messages);
    CHECK(total_messages(program, grid.ranks()) ==
          total_messages(plain, grid.ranks()) + grid.ranks() * messages);
    std::uint64_t bytes = 0;
    for (const std::uint64_t channel : sent_bytes(program, Content::amax, 0)) bytes += channel;
    CHECK(bytes == 4 * messages);
    CHECK(program.channels.size() == plain.channels.size());
  }
}

TEST_CASE("ranks compute the amax of their inputs before they exchange it, and cast afterwards") {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
    const Program program =
        with_casts(make("torus", RankGrid({4, 2}), collective), ElementFormat::bf16);
    std::uint64_t elements = 0;
    for (const Instruction& instruction : program.instructions)
      if (instruction.op == Op::find_amax)
        elements += program.partition.microshard(instruction.tile).size();
    std::uint64_t brought = 0;
    for (std::uint32_t segment = 0; segment < program.partition.segments(); ++segment)
      brought += program.partition.segment_elements(segment);
    CHECK(elements == brought);
    const auto first_cast = std::ranges::find(program.instructions, Op::cast, &Instruction::op);
    CHECK(std::all_of(program.instructions.begin(), first_cast,
                      [&](const Instruction& one) { return finds_shared_scale(program, one); }));
    CHECK(std::none_of(first_cast, program.instructions.end(),
                       [&](const Instruction& one) { return finds_shared_scale(program, one); }));
  }
}

TEST_CASE("an amax that is merged before it has arrived is rejected") {
  Program program = with_casts(make("ring", RankGrid({4})), ElementFormat::fp32);
  const auto merge = std::ranges::find(program.instructions, Op::merge_amax, &Instruction::op);
  REQUIRE(std::prev(merge)->op == Op::wait);
  std::iter_swap(merge, std::prev(merge));
  CHECK_THROWS_AS(validate(program), std::logic_error);

  program = with_casts(make("ring", RankGrid({4})), ElementFormat::fp32);
  std::erase_if(program.instructions,
                [](const Instruction& one) { return one.op == Op::find_amax; });
  CHECK_THROWS_AS(validate(program), std::logic_error);
}

TEST_CASE("an amax exchange without channels is refused") {
  Program program = make("ring", RankGrid({4}));
  program.channels.clear();
  CHECK_THROWS_AS(append_amax_exchange(program), std::logic_error);
}

}  // namespace
}  // namespace equarx::collectives::amax_exchange_test
