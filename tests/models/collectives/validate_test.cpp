#include "models/collectives/validate.hpp"

#include <algorithm>
#include <functional>

#include "tests/catch.hpp"
#include "tests/models/collectives/rings.hpp"

using namespace equarx::collectives;
using equarx::numerics::ElementFormat;

namespace {

using Instructions = std::vector<Instruction>;
using Where = std::function<bool(const Instruction&)>;

Program ring_program(Quantized phases = {true, true}, RingStyle style = RingStyle::full_loop) {
  return make_ring_all_reduce(4, 20'000, ElementFormat::bf16,
                              ring(style, phases, int8_blocks(32), 2, 3));
}

Where is(Op op, Phase phase = Phase::reduce_scatter) {
  return [=](const Instruction& instruction) {
    return instruction.op == op && instruction.phase == phase;
  };
}

Where transfers(Op op, const Program& program, Direction direction, Content content,
                Phase phase = Phase::reduce_scatter) {
  return [=, &program](const Instruction& instruction) {
    if (!is(op, phase)(instruction)) return false;
    const Message& message = program.messages[instruction.message];
    return message.channel == static_cast<ChannelId>(direction) &&
           program.buffers[message.buffer].content == content;
  };
}

Instructions::iterator first(Program& program, const Where& where, int skip = 0) {
  auto found = std::ranges::find_if(program.instructions, where);
  while (skip-- > 0) found = std::find_if(found + 1, program.instructions.end(), where);
  REQUIRE(found != program.instructions.end());
  return found;
}

Instructions::iterator last(Program& program, const Where& where) {
  const auto found =
      std::find_if(program.instructions.rbegin(), program.instructions.rend(), where);
  REQUIRE(found != program.instructions.rend());
  return found.base() - 1;
}

// Moves an instruction before an earlier one.
void hoist(Instructions::iterator instruction, Instructions::iterator before) {
  REQUIRE(before < instruction);
  std::rotate(before, instruction, instruction + 1);
}

void check_rejected(const Program& program, const std::string& why) {
  CAPTURE(why);
  REQUIRE_THROWS_AS(validate(program), std::logic_error);
  REQUIRE_THROWS_WITH(validate(program),
                      ContainsSubstring("wrong program: ") && ContainsSubstring(why));
}

}  // namespace

TEST_CASE("a wait that is missing puts the next one out of order") {
  Program program = ring_program();
  program.instructions.erase(first(program, is(Op::wait)));
  check_rejected(program, "out of the order of sends");
}

TEST_CASE("a last wait that is missing leaves a message in flight") {
  Program program = ring_program();
  const auto missing = last(program, is(Op::wait, Phase::all_gather));
  const std::string message = std::to_string(missing->message);
  program.instructions.erase(missing);
  // Its payload is then read without having come.
  check_rejected(program, "read before it is there");
  std::erase_if(program.instructions, is(Op::dequantize, Phase::all_gather));
  check_rejected(program, "message " + message + " is never waited for (at its end)");
}

TEST_CASE("waits of one direction cannot change places") {
  Program program = ring_program();
  const Where payload = transfers(Op::wait, program, Direction::forward, Content::payload);
  std::iter_swap(first(program, payload), first(program, payload, 1));
  check_rejected(program, "out of the order of sends");
}

TEST_CASE("waits of different directions may change places, as links do not wait for each other") {
  Program program = ring_program();
  const auto forward =
      first(program, transfers(Op::wait, program, Direction::forward, Content::scales));
  const auto backward =
      first(program, transfers(Op::wait, program, Direction::backward, Content::scales));
  std::iter_swap(forward, backward);
  REQUIRE_NOTHROW(validate(program));
}

TEST_CASE("a message is waited for once, and only once it was sent") {
  Program program = ring_program();
  const auto wait = first(program, is(Op::wait));
  program.instructions.insert(wait, *wait);
  check_rejected(program, "out of the order of sends");

  program = ring_program();
  hoist(first(program, is(Op::wait)), program.instructions.begin());
  check_rejected(program, "instruction 0");
}

TEST_CASE("a message is sent once") {
  Program program = ring_program();
  const auto send = first(program, is(Op::send));
  program.instructions.insert(send, *send);
  check_rejected(program, "sent twice");
}

TEST_CASE("a message that is not sent cannot be waited for") {
  Program program = ring_program();
  program.instructions.erase(first(program, is(Op::send)));
  check_rejected(program, "out of the order of sends");
}

TEST_CASE("a message that nothing mentions is noticed") {
  Program program = ring_program();
  program.messages.push_back({.buffer = 0, .channel = 0});
  check_rejected(program, "message " + std::to_string(program.messages.size() - 1) +
                              " is never sent (at its end)");
}

TEST_CASE("a buffer is sent only after it is made") {
  for (const Op maker : {Op::encode_scales, Op::quantize}) {
    Program program = ring_program();
    const auto made = first(program, is(maker));
    const auto sent = std::find_if(made, program.instructions.end(), is(Op::send));
    REQUIRE(program.messages[sent->message].buffer == made->buffer);
    std::iter_swap(made, sent);
    check_rejected(program, "sent before it is there");
  }
}

TEST_CASE("a buffer is made once") {
  for (const Op maker : {Op::encode_scales, Op::quantize}) {
    Program program = ring_program();
    const auto made = first(program, is(maker));
    program.instructions.insert(made, *made);
    check_rejected(program, "made twice");
  }
}

TEST_CASE("elements are quantized only after their scales are made") {
  Program program = ring_program();
  hoist(first(program, is(Op::quantize)), first(program, is(Op::encode_scales)));
  check_rejected(program, "scales are read before they are there");
}

TEST_CASE("what a neighbour sent is not read before it has arrived") {
  for (const RingStyle style : kStyles)
    for (const Quantized phases : kQuantized) {
      const Op sum = phases.reduce_scatter ? Op::accumulate : Op::add;
      Program program = ring_program(phases, style);
      const auto reader = first(program, is(sum));
      REQUIRE((reader - 1)->op == Op::wait);
      std::iter_swap(reader - 1, reader);
      check_rejected(program, "a buffer is read before it is there");

      const Op delivery = phases.all_gather ? Op::dequantize : Op::deliver;
      program = ring_program(phases, style);
      hoist(last(program, is(delivery, Phase::all_gather)),
            last(program, is(Op::wait, Phase::all_gather)));
      check_rejected(program, "a buffer is read before it is there");
    }
}

TEST_CASE("payload is not decoded before its scales have arrived") {
  Program program = ring_program();
  // Both neighbours agree to send the scales of the first minishard after its payload.
  const auto late = [&](Op op) {
    const auto scales = first(program, transfers(op, program, Direction::forward, Content::scales));
    const auto payload =
        first(program, transfers(op, program, Direction::forward, Content::payload), 2);
    REQUIRE(program.buffers[program.messages[payload->message].buffer].tile.minishard == 0);
    std::rotate(scales, scales + 1, payload + 1);
  };
  late(Op::send);
  late(Op::wait);
  check_rejected(program, "scales are read before they are there");
}

TEST_CASE("what is passed on must have arrived") {
  Program program = ring_program();
  const Where passes_on = [&](const Instruction& instruction) {
    return is(Op::send, Phase::all_gather)(instruction) &&
           std::ranges::count(program.messages, program.messages[instruction.message].buffer,
                              &Message::buffer) > 1;
  };
  const auto wait = first(program, is(Op::wait, Phase::all_gather));
  const auto forwarded = std::find_if(wait, program.instructions.end(), passes_on);
  REQUIRE(program.messages[wait->message].buffer == program.messages[forwarded->message].buffer);
  hoist(forwarded, wait);
  check_rejected(program, "sent before it is there");
}

TEST_CASE("every tile reaches the result, once") {
  for (const Op delivery : {Op::dequantize, Op::deliver}) {
    const Quantized phases{true, delivery == Op::dequantize};
    Program program = ring_program(phases);
    const auto delivered = first(program, is(delivery, Phase::all_gather));
    program.instructions.insert(delivered, *delivered);
    check_rejected(program, "delivered twice");

    program = ring_program(phases);
    const auto missing = first(program, is(delivery, Phase::all_gather));
    const std::uint64_t elements = program.partition.segment_elements(0);
    const std::uint64_t left = elements - program.partition.microshard(missing->tile).size();
    program.instructions.erase(missing);
    check_rejected(program, std::to_string(left) + " of " + std::to_string(elements) +
                                " elements of segment 0 reach the result (at its end)");
  }
}

TEST_CASE("one tile cannot stand in for another") {
  Program program = ring_program();
  const auto one = last(program, is(Op::dequantize, Phase::all_gather));
  one->tile.microshard = 0;
  check_rejected(program, "delivered twice");
}

TEST_CASE("messages and buffers that do not exist are found") {
  for (const Op op : {Op::send, Op::wait}) {
    Program program = ring_program();
    first(program, is(op))->message = static_cast<MessageId>(program.messages.size());
    REQUIRE_THROWS_AS(validate(program), std::logic_error);
  }
  for (const Op op : {Op::quantize, Op::accumulate}) {
    Program program = ring_program();
    first(program, is(op))->buffer = static_cast<BufferId>(program.buffers.size());
    REQUIRE_THROWS_AS(validate(program), std::logic_error);
  }
}

TEST_CASE("a program that does nothing does not reduce anything") {
  Program program = ring_program();
  program.instructions.clear();
  program.messages.clear();
  check_rejected(program, "0 of 10000 elements of segment 0 reach the result (at its end)");
}

TEST_CASE("the first instruction that breaks a rule is named") {
  Program program = ring_program();
  const auto made = first(program, is(Op::quantize));
  const auto at = made - program.instructions.begin();
  program.instructions.insert(made, *made);
  check_rejected(program,
                 "quantize: segment 0, minishard 0, microshard 0 (ReduceScatter, "
                 "instruction " +
                     std::to_string(at + 1) + ")");
}
