#include "models/collectives/validate.hpp"

#include <algorithm>
#include <functional>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::validate_test {

using namespace equarx::collectives;
using namespace equarx::testing;
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
                      ContainsSubstring("invalid program: ") && ContainsSubstring(why));
}

}  // namespace

TEST_CASE("a missing wait leaves the next one out of order") {
  Program program = ring_program();
  program.instructions.erase(first(program, is(Op::wait)));
  check_rejected(program, "not in the order of sends");
}

TEST_CASE("a missing last wait leaves a message in flight") {
  Program program = ring_program();
  const auto missing = last(program, is(Op::wait, Phase::all_gather));
  const std::string message = std::to_string(missing->message);
  program.instructions.erase(missing);
  // Its payload is then read before it has arrived.
  check_rejected(program, "read before it is available");
  std::erase_if(program.instructions, is(Op::dequantize, Phase::all_gather));
  check_rejected(program, "message " + message + " is never waited for (at the end)");
}

TEST_CASE("waits of one direction cannot be swapped") {
  Program program = ring_program();
  const Where payload = transfers(Op::wait, program, Direction::forward, Content::payload);
  std::iter_swap(first(program, payload), first(program, payload, 1));
  check_rejected(program, "not in the order of sends");
}

TEST_CASE("waits of different directions can be swapped, because links are independent") {
  Program program = ring_program();
  const auto forward =
      first(program, transfers(Op::wait, program, Direction::forward, Content::scales));
  const auto backward =
      first(program, transfers(Op::wait, program, Direction::backward, Content::scales));
  std::iter_swap(forward, backward);
  REQUIRE_NOTHROW(validate(program));
}

TEST_CASE("a message is waited for once, after it was sent") {
  Program program = ring_program();
  const auto wait = first(program, is(Op::wait));
  program.instructions.insert(wait, *wait);
  check_rejected(program, "not in the order of sends");

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

TEST_CASE("a message that is not sent cannot be awaited") {
  Program program = ring_program();
  program.instructions.erase(first(program, is(Op::send)));
  check_rejected(program, "not in the order of sends");
}

TEST_CASE("an unused message is detected") {
  Program program = ring_program();
  program.messages.push_back({.buffer = 0, .channel = 0});
  check_rejected(program, "message " + std::to_string(program.messages.size() - 1) +
                              " is never sent (at the end)");
}

TEST_CASE("a buffer is sent only after it is written") {
  for (const Op maker : {Op::encode_scales, Op::quantize}) {
    Program program = ring_program();
    const auto made = first(program, is(maker));
    const auto sent = std::find_if(made, program.instructions.end(), is(Op::send));
    REQUIRE(program.messages[sent->message].buffer == made->buffer);
    std::iter_swap(made, sent);
    check_rejected(program, "sent before it is available");
  }
}

TEST_CASE("a buffer is written once") {
  for (const Op maker : {Op::encode_scales, Op::quantize}) {
    Program program = ring_program();
    const auto made = first(program, is(maker));
    program.instructions.insert(made, *made);
    check_rejected(program, "written twice");
  }
}

TEST_CASE("elements are quantized only after their scales are encoded") {
  Program program = ring_program();
  hoist(first(program, is(Op::quantize)), first(program, is(Op::encode_scales)));
  check_rejected(program, "scales are read before they are available");
}

TEST_CASE("a neighbour's data is not read before it has arrived") {
  for (const RingStyle style : kStyles)
    for (const Quantized phases : kQuantized) {
      const Op sum = phases.reduce_scatter ? Op::accumulate : Op::add;
      Program program = ring_program(phases, style);
      const auto reader = first(program, is(sum));
      REQUIRE((reader - 1)->op == Op::wait);
      std::iter_swap(reader - 1, reader);
      check_rejected(program, "a buffer is read before it is available");

      const Op delivery = phases.all_gather ? Op::dequantize : Op::deliver;
      program = ring_program(phases, style);
      hoist(last(program, is(delivery, Phase::all_gather)),
            last(program, is(Op::wait, Phase::all_gather)));
      check_rejected(program, "a buffer is read before it is available");
    }
}

TEST_CASE("payload is not decoded before its scales have arrived") {
  Program program = ring_program();
  // Both neighbours send the scales of the first minishard after its payload.
  const auto late = [&](Op op) {
    const auto scales = first(program, transfers(op, program, Direction::forward, Content::scales));
    const auto payload =
        first(program, transfers(op, program, Direction::forward, Content::payload), 2);
    REQUIRE(program.buffers[program.messages[payload->message].buffer].tile.minishard == 0);
    std::rotate(scales, scales + 1, payload + 1);
  };
  late(Op::send);
  late(Op::wait);
  check_rejected(program, "scales are read before they are available");
}

TEST_CASE("only data that has arrived is forwarded") {
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
  check_rejected(program, "sent before it is available");
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
                                " elements of segment 0 reach the result (at the end)");
  }
}

TEST_CASE("one tile cannot replace another") {
  Program program = ring_program();
  const auto one = last(program, is(Op::dequantize, Phase::all_gather));
  one->tile.microshard = 0;
  check_rejected(program, "as a tile other than its own");
  one->buffer = std::ranges::find_if(program.instructions, [&](const Instruction& i) {
                  return i.op == Op::dequantize && i.tile == one->tile;
                })->buffer;
  check_rejected(program, "delivered twice");
}

TEST_CASE("missing messages and buffers are detected") {
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

TEST_CASE("an empty program does not reduce") {
  Program program = ring_program();
  program.instructions.clear();
  program.messages.clear();
  check_rejected(program, "0 of 10000 elements of segment 0 reach the result (at the end)");
}

TEST_CASE("the first instruction that violates an invariant is named") {
  Program program = ring_program();
  const auto made = first(program, is(Op::quantize));
  const auto at = made - program.instructions.begin();
  program.instructions.insert(made, *made);
  check_rejected(program,
                 "quantize: segment 0, minishard 0, microshard 0 (ReduceScatter, "
                 "instruction " +
                     std::to_string(at + 1) + ")");
}

namespace {

Program torus_program(Collective collective = Collective::all_reduce) {
  RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 2, 3);
  options.collective = collective;
  return make_ring_program(RankGrid({3, 4}), 20'000, ElementFormat::bf16, options);
}

Program broadcast_program() {
  return make_ring_broadcast(4, 20'000, ElementFormat::bf16,
                             {.style = RingStyle::semi_loop,
                              .format = int8_blocks(32),
                              .cut = {.minishards = 2, .microshards = 3}});
}

Where sends_gathered(const Program& program, Content content) {
  return [&program, content](const Instruction& instruction) {
    if (instruction.op != Op::send) return false;
    const Message& message = program.messages[instruction.message];
    return message.origin.gathered != 0 && message.origin.offset == 0 &&
           program.buffers[message.buffer].content == content;
  };
}

}  // namespace

TEST_CASE("gathered data is forwarded only after all of it has arrived") {
  for (const Content content : {Content::payload, Content::scales}) {
    Program program = torus_program();
    const auto gathered = first(program, sends_gathered(program, content));
    const BufferId buffer = program.messages[gathered->message].buffer;
    // The last arrival of the same buffer from one of the ranks along the finished axis.
    auto arrival = gathered;
    do --arrival;
    while (arrival->op != Op::wait || program.messages[arrival->message].buffer != buffer);
    hoist(gathered, arrival);
    check_rejected(program, "a buffer is sent before it is available");
  }
}

TEST_CASE("a gathered delivery requires the gathered message") {
  Program program = torus_program(Collective::all_gather);
  const auto reader = first(program, [](const Instruction& instruction) {
    return instruction.op == Op::dequantize && instruction.origin.gathered != 0;
  });
  auto arrival = reader;
  while (arrival->op != Op::wait || program.messages[arrival->message].buffer != reader->buffer)
    --arrival;
  hoist(reader, arrival);
  check_rejected(program, "a buffer is read before it is available");
}

TEST_CASE("a missing gathered delivery omits the shards of all its ranks") {
  Program program = torus_program(Collective::all_gather);
  const auto missing = first(program, [](const Instruction& instruction) {
    return instruction.op == Op::dequantize && instruction.origin.gathered != 0;
  });
  const std::uint32_t segment = missing->tile.segment;
  const std::uint64_t elements = program.partition.segment_elements(segment);
  const std::uint64_t left = elements - program.partition.microshard(missing->tile).size() *
                                            program.grid().span(missing->origin.gathered);
  program.instructions.erase(missing);
  check_rejected(program, std::to_string(left) + " of " + std::to_string(elements) +
                              " elements of segment " + std::to_string(segment));
}

TEST_CASE("a ReduceScatter delivers exactly one shard") {
  Program program = torus_program(Collective::reduce_scatter);
  const auto stored = first(program, is(Op::store));
  program.instructions.insert(stored, *stored);
  check_rejected(program, "delivered twice");
  program = torus_program(Collective::reduce_scatter);
  program.instructions.erase(first(program, is(Op::store)));
  check_rejected(program, "reach the result");
  program = torus_program(Collective::reduce_scatter);
  program.collective = Collective::all_reduce;
  check_rejected(program, "elements of segment 0 reach the result");
}

TEST_CASE("a buffer is only read as the tile that it holds") {
  const auto check = [](Program program, const Where& reads, const auto& change) {
    const auto reader = first(program, reads);
    change(*reader);
    REQUIRE_THROWS_WITH(validate(program),
                        ContainsSubstring("a buffer is read as a tile other than its own"));
  };
  const Where sums = is(Op::accumulate);
  const Where foreign = [](const Instruction& instruction) {
    return instruction.op == Op::dequantize && instruction.origin.offset != 0;
  };
  for (const Where& reads : {sums, foreign}) {
    check(torus_program(), reads, [](Instruction& i) { i.tile.shard_offset ^= 1; });
    check(torus_program(), reads, [](Instruction& i) { i.tile.minishard ^= 1; });
    check(torus_program(), reads, [](Instruction& i) { i.tile.microshard ^= 1; });
    check(ring_program(), reads, [](Instruction& i) { i.tile.segment ^= 1; });
  }
  // No other check would detect a rank that decodes a neighbour's shard as its own.
  check(ring_program(), foreign, [](Instruction& i) { i.tile.shard_offset = 0; });
  check(broadcast_program(), is(Op::dequantize, Phase::all_gather),
        [](Instruction& i) { i.tile.microshard ^= 1; });
}

TEST_CASE("terms of a sum must all have arrived") {
  const auto exchange = [] {
    return make_one_shot_all_reduce(
        4, 20'000, ElementFormat::bf16,
        {int8_blocks(32), int8_blocks(32), {.minishards = 2, .microshards = 3}});
  };
  Program program = exchange();
  const auto reduce = first(program, is(Op::reduce));
  REQUIRE((reduce - 1)->op == Op::wait);
  std::iter_swap(reduce - 1, reduce);
  check_rejected(program, "a buffer is read before it is available");
  program = exchange();
  std::erase_if(program.instructions, is(Op::store));
  check_rejected(program, "0 of 20000 elements");
}

TEST_CASE("non-uniform ranks: a wait without a send") {
  Program program = broadcast_program();
  const Where passes_on = [](const Instruction& instruction) {
    return instruction.op == Op::send && instruction.ranks != RankRange{0, 0};
  };
  program.instructions.erase(first(program, passes_on));
  check_rejected(program, "not in the order of sends");
  program = broadcast_program();
  std::erase_if(program.instructions, passes_on);
  check_rejected(program, "a wait never completes");
}

TEST_CASE("non-uniform ranks: a message without a wait") {
  Program program = broadcast_program();
  const auto wait = last(program, is(Op::wait, Phase::all_gather));
  wait->ranks = {wait->ranks.first + 1, wait->ranks.last};
  check_rejected(program, "a buffer is read before it is available");
  program = broadcast_program();
  const auto send = last(program, is(Op::send, Phase::all_gather));
  const auto message = static_cast<MessageId>(program.messages.size());
  program.messages.push_back(program.messages[send->message]);
  program.instructions.push_back(*send);
  program.instructions.back().message = message;
  check_rejected(program, "message " + std::to_string(message) + " is never waited for");
}

TEST_CASE("non-uniform ranks: data is not forwarded before it has arrived") {
  Program program = broadcast_program();
  const auto send = first(program, is(Op::send, Phase::all_gather));
  send->ranks = {1, 1};  // instead of the root
  check_rejected(program, "a buffer is sent before it is available");
}

TEST_CASE("non-uniform ranks: every rank receives everything exactly once") {
  Program program = broadcast_program();
  const auto delivery = last(program, [](const Instruction& instruction) {
    return instruction.op == Op::dequantize && instruction.ranks.first < instruction.ranks.last;
  });
  delivery->ranks.last = delivery->ranks.first;  // but not its other receivers
  check_rejected(program, "not every element reaches the result");
  program = broadcast_program();
  const auto again = last(program, is(Op::dequantize, Phase::all_gather));
  program.instructions.insert(again, *again);
  check_rejected(program, "delivered twice");
  // Enough elements in total, but one microshard twice and another one never.
  program = broadcast_program();
  const auto other = first(program, is(Op::dequantize, Phase::all_gather));
  const auto twice = std::ranges::find_if(program.instructions, [&](const Instruction& i) {
    return i.op == Op::dequantize && i.ranks == other->ranks && i.tile != other->tile &&
           program.partition.microshard(i.tile).size() ==
               program.partition.microshard(other->tile).size();
  });
  REQUIRE(twice != program.instructions.end());
  twice->buffer = other->buffer;
  twice->tile = other->tile;
  check_rejected(program, "delivered twice");
}

}  // namespace equarx::validate_test
