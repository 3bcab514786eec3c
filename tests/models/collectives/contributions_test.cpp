#include "models/collectives/contributions.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::contributions_test {
namespace {

constexpr std::uint64_t kElements = 4099;  // a prime, so that nothing divides it
constexpr std::array kFollowed = {Collective::all_reduce, Collective::reduce_scatter,
                                  Collective::all_gather, Collective::all_to_all};

RankGrid grid_of(const AlgorithmInfo& algorithm) {
  switch (algorithm.layout) {
    case RankLayout::grid: return RankGrid({4, 2});
    case RankLayout::hypercube: return RankGrid({2, 2, 2});
    case RankLayout::slices_of_grids: return RankGrid({2, 3, 2});
    case RankLayout::slices:
    case RankLayout::nodes: return RankGrid({2, 4});
    default: return RankGrid({8});
  }
}

Program make(std::string_view name, Collective collective = Collective::all_reduce,
             RingStyle ring = RingStyle::full_loop) {
  const AlgorithmInfo& algorithm = *find_algorithm(name);
  numerics::BlockFormat format{.element = numerics::ElementFormat::bf16};
  if (!algorithm.can_be_plain) format = {.element = numerics::ElementFormat::int8, .scaled = true};
  return algorithm.make({.collective = collective,
                         .grid = grid_of(algorithm),
                         .elements = kElements,
                         .dtype = numerics::ElementFormat::bf16,
                         .ring = ring,
                         .reduce_scatter = format,
                         .all_gather = format,
                         .cut = {.minishards = 2, .microshards = 3},
                         .reduce_scatter_between = format,
                         .all_gather_between = format});
}

std::vector<Instruction>::iterator first(Program& program, Op op) {
  const auto found = std::ranges::find(program.instructions, op, &Instruction::op);
  REQUIRE(found != program.instructions.end());
  return found;
}

/// The violation; empty if there is none.
std::string violation(const Program& program) {
  try {
    check_contributions(program);
  } catch (const InvalidProgram& error) {
    return error.why();
  }
  return {};
}

TEST_CASE("results of every algorithm contain what they should") {
  for (const AlgorithmInfo& algorithm : algorithms())
    for (const Collective collective : kFollowed)
      for (const RingStyle ring : {RingStyle::full_loop, RingStyle::semi_loop}) {
        if (!algorithm.does(collective)) continue;
        CAPTURE(algorithm.name, static_cast<int>(collective), static_cast<int>(ring));
        CHECK(violation(make(algorithm.name, collective, ring)).empty());
      }
}

TEST_CASE("a sum without a term, and one with a term twice, are invalid") {
  for (const std::string_view name : {"ring", "two-shot", "halving-doubling", "recursive-doubling",
                                      "hierarchical-two-shot", "binomial-tree"}) {
    CAPTURE(name);
    Program program = make(name);
    const bool reduces = name == "recursive-doubling";
    const bool adds = name == "ring" || name == "halving-doubling" || name == "binomial-tree";
    const auto sum = first(program, reduces ? Op::reduce : adds ? Op::add : Op::accumulate);
    Program missing = program;
    missing.instructions.erase(missing.instructions.begin() + (sum - program.instructions.begin()));
    CHECK(violation(missing).find("not at all instead of once") != std::string::npos);
    if (reduces) continue;  // it replaces the values
    program.instructions.insert(sum, Instruction(*sum));
    CHECK(violation(program).find("2 times instead of once") != std::string::npos);
  }
}

TEST_CASE("the instruction that writes a wrong result is named") {
  Program program = make("one-shot");
  const auto sum = first(program, Op::reduce);
  const Tile tile = sum->tile;
  program.instructions.erase(sum);
  try {
    check_contributions(program);
    FAIL("accepted");
  } catch (const InvalidProgram& error) {
    CHECK(program.instructions.at(error.at()).op == Op::store);
    CHECK(program.instructions.at(error.at()).tile == tile);
  }
}

TEST_CASE("a gathered shard must be its owner's") {
  Program program = make("two-shot");
  program.collective = Collective::all_gather;  // of sums
  CHECK(violation(program).find("once instead of not at all") != std::string::npos);
}

TEST_CASE("a buffer is written before it is read, in the order of the program") {
  Program program = make("binomial-tree");
  const auto written = first(program, Op::lend);
  const auto read = first(program, Op::add);
  REQUIRE(written < read);
  std::rotate(written, written + 1, read + 1);
  CHECK(violation(program).find("has not written the buffer yet") != std::string::npos);
}

TEST_CASE("a moved shard must be from its origin, and the receiver's own") {
  const Program program = make("direct", Collective::all_to_all);
  Program summed = program;
  const auto arrived = first(summed, Op::deliver);
  Instruction sum = *arrived;
  sum.op = Op::accumulate;
  sum.tile.shard_offset = 0;
  const auto own = std::find_if(arrived, summed.instructions.end(), [&](const Instruction& one) {
    return one.op == Op::lend && one.tile == sum.tile;
  });
  REQUIRE(own != summed.instructions.end());
  summed.instructions.insert(own, sum);
  CHECK(violation(summed).find("values other than the input") != std::string::npos);

  Program others = program;
  first(others, Op::deliver)->tile.shard_offset = 1;
  CHECK(violation(others).find("receives the shard of rank") != std::string::npos);
}

}  // namespace
}  // namespace equarx::collectives::contributions_test
