#include "models/values/unit_interpreter.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::unit_interpreter_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;

namespace {

Program ring_program(std::uint64_t elements, std::uint32_t ranks = 4) {
  return make_ring_all_reduce(ranks, elements, ElementFormat::fp32,
                              ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 3, 2));
}

/// Lanes of a program with three minishards in formats with scales.
std::uint32_t lane_of(std::uint32_t segment, std::uint32_t minishard) {
  return segment * 3 + minishard;
}

}  // namespace

TEST_CASE("a unit has its first element, its exact sums and its result") {
  const Program program = ring_program(5000);
  const TensorSource source(equarx::numerics::InputSpec{.seed = 8}, 5000, ElementFormat::fp32);
  const LaneTable lanes(program);
  UnitInterpreter interpreter(lanes, source);
  interpreter.run({.coordinate = 2, .lane = lane_of(1, 2)});
  const Range range = program.partition.minishard({.minishard = 2});
  REQUIRE(interpreter.first_element() == program.partition.segment_begin(1) +
                                             program.partition.chunk_begin(1, 0, 2) + range.begin);
  REQUIRE(interpreter.exact().size() == range.size());
  REQUIRE(interpreter.result().size() == range.size());
  REQUIRE(interpreter.ranks_identical());
  std::vector<double> exact(range.size());
  std::vector<float> values(range.size());
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    source.read(rank, interpreter.first_element(), values);
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += double{values[i]};
  }
  REQUIRE(std::ranges::equal(interpreter.exact(), exact));
}

TEST_CASE("a unit does not depend on previous runs of its interpreter") {
  const Program program = ring_program(5001);
  const TensorSource source(equarx::numerics::InputSpec{.seed = 9}, 5001, ElementFormat::fp32);
  const LaneTable lanes(program);
  const Unit last{.coordinate = 3, .lane = lane_of(1, 2)};  // shorter than the others: padded
  UnitInterpreter fresh(lanes, source);
  fresh.run(last);
  UnitInterpreter used(lanes, source);
  used.run({.coordinate = 0, .lane = lane_of(0, 0)});
  used.run({.coordinate = 1, .lane = lane_of(1, 1)});
  used.run(last);
  REQUIRE(std::ranges::equal(used.result(), fresh.result()));
  REQUIRE(std::ranges::equal(used.exact(), fresh.exact()));
  REQUIRE(used.sent_bytes() == fresh.sent_bytes());
  REQUIRE(used.received_bytes() == fresh.received_bytes());
  REQUIRE(used.quantized() == fresh.quantized());
  REQUIRE(fresh.result().size() < program.partition.minishard({.minishard = 2}).size());
}

TEST_CASE("a unit past the end of the tensor has no elements") {
  // 45 elements in 8 segments of 6: the last one starts at 42, and the last two of its three
  // minishards are padding, wholly or partly.
  const Program program = ring_program(45);
  const TensorSource source(equarx::numerics::InputSpec{.seed = 10}, 45, ElementFormat::fp32);
  const LaneTable lanes(program);
  UnitInterpreter interpreter(lanes, source);
  interpreter.run({.coordinate = 3, .lane = lane_of(1, 1)});
  REQUIRE(interpreter.result().size() == 1);
  interpreter.run({.coordinate = 3, .lane = lane_of(1, 2)});
  REQUIRE(interpreter.result().empty());
  REQUIRE(interpreter.ranks_identical());
}

TEST_CASE("ranks that end with different bits are detected") {
  Program program = ring_program(5000);
  // The owner of a tile keeps its own sums instead of the quantized values that it sent to all
  // others.
  const auto own = std::ranges::find_if(program.instructions, [](const Instruction& i) {
    return i.op == Op::dequantize && i.tile.segment == 0 && i.tile.shard_offset == 0;
  });
  REQUIRE(own != program.instructions.end());
  own->op = Op::store;
  own->operand = Operand::sums;
  const TensorSource source(equarx::numerics::InputSpec{.seed = 11}, 5000, ElementFormat::fp32);
  const LaneTable lanes(program);
  UnitInterpreter interpreter(lanes, source);
  interpreter.run({.coordinate = 0, .lane = lane_of(0, own->tile.minishard)});
  REQUIRE_FALSE(interpreter.ranks_identical());
  interpreter.run({.coordinate = 0, .lane = lane_of(1, 0)});
  REQUIRE(interpreter.ranks_identical());
}

}  // namespace equarx::unit_interpreter_test
