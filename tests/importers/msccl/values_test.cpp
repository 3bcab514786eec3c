#include "importers/msccl/values.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::values_test {
namespace {

using namespace schedules;

Verdict verdict_on(const Schedule& schedule, bool in_place = true) {
  check(schedule);
  return verify(schedule, find_queues(schedule), in_place);
}

/// Two ranks with one thread block each, connected in both directions, without steps.
Schedule exchange(Collective collective, std::uint32_t chunks) {
  Schedule schedule{.name = "exchange", .collective = collective, .chunks = chunks, .ranks = {}};
  schedule.ranks.resize(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    schedule.ranks[rank].blocks.push_back(
        {.send_to = 1 - rank, .receive_from = 1 - rank, .channel = 0, .steps = {}});
  return schedule;
}

Step step(Op op, Location source, Location destination, std::uint32_t count = 1) {
  return {.op = op, .source = source, .destination = destination, .count = count};
}

TEST_CASE("hand-written AllReduces verify") {
  CHECK(verdict_on(two_ranks()).checked);
  CHECK(verdict_on(two_ranks()).wrong.empty());
  for (const std::uint32_t ranks : {2U, 3U, 8U}) CHECK(verdict_on(ring(ranks)).wrong.empty());
}

TEST_CASE("the first mismatching rank and chunk are named") {
  Schedule schedule = ring(4);
  // Rank 2 adds the wrong chunk to the sum of chunk 1, so chunk 1 is wrong on every rank.
  schedule.ranks[2].blocks[0].steps[1].source.chunk = 0;
  CHECK_THAT(verdict_on(schedule).wrong, ContainsSubstring("rank 0, chunk 1 of the result: "));
  Schedule late = two_ranks();
  late.ranks[1].blocks[0].steps[3].destination = {Memory::scratch, 0};
  CHECK_THAT(verdict_on(late).wrong, ContainsSubstring("rank 1, chunk 0 of the result: "));
}

TEST_CASE("unwritten chunks are reported as such") {
  Schedule schedule = two_ranks();
  CHECK_THAT(verdict_on(schedule, false).wrong,
             ContainsSubstring("rank 0, chunk 0 of the result: unwritten instead of "));
}

TEST_CASE("each collective is verified against its own result") {
  for (std::uint32_t wrong = 0; wrong < 2; ++wrong) {
    Schedule gather = exchange(Collective::all_gather, 2);
    Schedule all_to_all = exchange(Collective::all_to_all, 2);
    Schedule scatter = exchange(Collective::reduce_scatter, 2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::uint32_t other = 1 - rank;
      gather.ranks[rank].blocks[0].steps = {
          step(Op::send, {Memory::input, 0}, {}),
          step(Op::receive, {}, {Memory::output, wrong == 0 ? other : rank}),
          step(Op::copy, {Memory::input, 0}, {Memory::output, wrong == 0 ? rank : other})};
      all_to_all.ranks[rank].blocks[0].steps = {
          step(Op::send, {Memory::input, wrong == 0 ? other : rank}, {}),
          step(Op::receive, {}, {Memory::output, other}),
          step(Op::copy, {Memory::input, rank}, {Memory::output, rank})};
      scatter.ranks[rank].blocks[0].steps = {
          step(Op::send, {Memory::input, wrong == 0 ? other : rank}, {}),
          step(Op::receive_reduce_copy, {Memory::input, rank}, {Memory::output, 0})};
    }
    Schedule broadcast = exchange(Collective::broadcast, 1);
    broadcast.ranks[wrong].blocks[0].steps = {step(Op::send, {Memory::input, 0}, {})};
    broadcast.ranks[1 - wrong].blocks[0].steps = {step(Op::receive, {}, {Memory::output, 0})};
    broadcast.ranks[0].blocks.push_back({});
    broadcast.ranks[0].blocks[1].steps = {step(Op::copy, {Memory::input, 0}, {Memory::output, 0})};
    if (wrong == 1) broadcast.ranks[0].blocks[1].steps[0].destination = {Memory::input, 0};
    Schedule reduce = exchange(Collective::reduce, 1);
    reduce.ranks[1 - wrong].blocks[0].steps = {step(Op::send, {Memory::input, 0}, {})};
    reduce.ranks[wrong].blocks[0].steps = {
        step(Op::receive_reduce_copy, {Memory::input, 0}, {Memory::output, 0})};
    for (const Schedule& one : {gather, all_to_all, scatter, broadcast, reduce}) {
      INFO(name(one.collective));
      CHECK(verdict_on(one, false).wrong.empty() == (wrong == 0));
    }
  }
}

TEST_CASE("in place, parts are laid out as in NCCL") {
  // AllGather: the input is the rank's part of the output, so no copy is needed.
  Schedule gather = exchange(Collective::all_gather, 2);
  Schedule scatter = exchange(Collective::reduce_scatter, 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t other = 1 - rank;
    gather.ranks[rank].blocks[0].steps = {step(Op::send, {Memory::input, 0}, {}),
                                          step(Op::receive, {}, {Memory::output, other})};
    scatter.ranks[rank].blocks[0].steps = {
        step(Op::send, {Memory::input, other}, {}),
        step(Op::receive_reduce_copy, {Memory::output, 0}, {Memory::input, rank})};
  }
  CHECK(verdict_on(gather).wrong.empty());
  CHECK_FALSE(verdict_on(gather, false).wrong.empty());
  CHECK(verdict_on(scatter).wrong.empty());
}

TEST_CASE("custom collectives are not verified") {
  Schedule schedule = two_ranks();
  schedule.collective = Collective::custom;
  CHECK_FALSE(verdict_on(schedule).checked);
}

TEST_CASE("lossy transmission applies once, not to forwarded messages") {
  Schedule schedule = ring(3);
  const Queues queues = find_queues(schedule);
  Tensors tensors{.elements = 1, .inputs = {}, .outputs = {}};
  for (std::uint32_t rank = 0; rank < 3; ++rank) tensors.inputs.push_back({1.0F, 2.0F, 3.0F});
  int transmitted = 0;
  run_values(
      schedule, queues, true, 1,
      [&](std::span<float> values) {
        ++transmitted;
        for (float& value : values) value += 0.5F;
      },
      tensors);
  CHECK(transmitted == 3 * 3);  // send, rrs and rrcs of each rank, but not rcs
  // The owner of a sum accumulates the loss of two messages, the other ranks the loss of three.
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
      const float sum = 3.0F * static_cast<float>(chunk + 1);
      const float lost = (rank + 1) % 3 == chunk ? 1.0F : 1.5F;
      CHECK(tensors.outputs[rank][chunk] == sum + lost);
      CHECK(exact(schedule, tensors, rank, chunk, 0) == sum);
    }
}

}  // namespace
}  // namespace equarx::testing::values_test
