#include "models/collectives/program.hpp"

#include <algorithm>
#include <set>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::program_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;

namespace {

constexpr Op kOps[] = {Op::find_scales, Op::encode_scales, Op::quantize,  Op::lend,
                       Op::accumulate,  Op::add,           Op::reduce,    Op::dequantize,
                       Op::deliver,     Op::store,         Op::barrier,   Op::send,
                       Op::wait,        Op::cast,          Op::cast_back, Op::scale};

// Describes the instruction selected by `which`.
template <typename Which>
std::string first_in_words(const Program& program, Which which) {
  const auto found = std::ranges::find_if(program.instructions, which);
  REQUIRE(found != program.instructions.end());
  return describe(program, static_cast<InstructionId>(found - program.instructions.begin()));
}

Program quantized_program() {
  return make_ring_all_reduce(4, 4096, ElementFormat::bf16,
                              ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 3, 2));
}

}  // namespace

TEST_CASE("transfers and instructions that only name bytes are not vector work") {
  const std::set<Op> free = {Op::lend, Op::deliver, Op::barrier, Op::send, Op::wait};
  for (const Op op : kOps) REQUIRE(is_vector_work(op) != free.contains(op));
  REQUIRE_THROWS_AS(is_vector_work(static_cast<Op>(99)), std::logic_error);
}

TEST_CASE("every operation has a unique name") {
  std::set<std::string_view> names;
  for (const Op op : kOps) names.insert(name(op));
  REQUIRE(names.size() == std::size(kOps));
  REQUIRE_THROWS_AS(name(static_cast<Op>(99)), std::logic_error);
  REQUIRE(name(Phase::reduce_scatter) == "ReduceScatter");
  REQUIRE(name(Phase::all_gather) == "AllGather");
}

TEST_CASE("every collective has its usual name") {
  REQUIRE(name(Collective::all_reduce) == "AllReduce");
  REQUIRE(name(Collective::reduce_scatter) == "ReduceScatter");
  REQUIRE(name(Collective::all_gather) == "AllGather");
  REQUIRE(name(Collective::all_to_all) == "AllToAll");
  REQUIRE(name(Collective::broadcast) == "Broadcast");
  REQUIRE(name(Collective::neighbor_average) == "NeighborAverage");
  REQUIRE_THROWS_AS(name(static_cast<Collective>(99)), std::logic_error);
}

TEST_CASE("a description names the operation, its part and its position in the program") {
  const Program program = quantized_program();
  REQUIRE(describe(program, 0) ==
          "find scales: segment 0, minishard 0, microshard 0 (ReduceScatter, instruction 0)");
  REQUIRE_THAT(first_in_words(program, [](auto& i) { return i.op == Op::encode_scales; }),
               ContainsSubstring("encode scales: segment 0, minishard 0 (ReduceScatter"));
  REQUIRE_THAT(first_in_words(program, [](auto& i) { return i.op == Op::dequantize; }),
               ContainsSubstring("dequantize: segment 0, minishard 0, microshard 0 (AllGather"));
}

TEST_CASE("the description of a send names its direction, and so does that of a wait") {
  const Program program = quantized_program();
  const auto carries = [&](Op op, Content content, Direction direction) {
    return [&program, op, content, direction](const Instruction& instruction) {
      if (instruction.op != op) return false;
      const Message& message = program.messages[instruction.message];
      return message.channel == static_cast<ChannelId>(direction) &&
             program.buffers[message.buffer].content == content;
    };
  };
  REQUIRE_THAT(
      first_in_words(program, carries(Op::send, Content::payload, Direction::backward)),
      ContainsSubstring(
          "send the payload of segment 1, minishard 0, microshard 0 backward (ReduceScatter"));
  REQUIRE_THAT(
      first_in_words(program, carries(Op::send, Content::scales, Direction::forward)),
      ContainsSubstring("send the scales of segment 0, minishard 0 forward (ReduceScatter"));
  REQUIRE_THAT(first_in_words(program, carries(Op::wait, Content::payload, Direction::forward)),
               ContainsSubstring("wait for the payload of segment 0, minishard 0, microshard 0, "
                                 "sent forward (ReduceScatter"));
}

TEST_CASE("an instruction that does not exist cannot be described") {
  const Program program = quantized_program();
  REQUIRE_THROWS_AS(describe(program, static_cast<InstructionId>(program.instructions.size())),
                    std::logic_error);
}

}  // namespace equarx::program_test
