#include "models/schedules/values.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/models/schedules/schedules.hpp"

namespace equarx::testing::values_test {
namespace {

using namespace schedules;

Verdict verdict_on(const Schedule& schedule, bool in_place = true) {
  check(schedule);
  return verify(schedule, find_queues(schedule), in_place);
}

/// Rank 0 sends chunks to rank 1 and takes as many: `sent` from the input, into `taken` of the output.
Schedule exchange(Collective collective, std::uint32_t chunks) {
  Schedule schedule{.name = "exchange", .collective = collective, .chunks = chunks, .ranks = {}};
  schedule.ranks.resize(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    schedule.ranks[rank].blocks.push_back(
        {.send_to = 1 - rank, .receive_from = 1 - rank, .channel = 0, .steps = {}});
  return schedule;
}

Step step(Op op, Place source, Place destination, std::uint32_t count = 1) {
  return {.op = op, .source = source, .destination = destination, .count = count};
}

TEST_CASE("AllReduces by hand are AllReduces") {
  CHECK(verdict_on(two_ranks()).checked);
  CHECK(verdict_on(two_ranks()).wrong.empty());
  for (const std::uint32_t ranks : {2U, 3U, 8U}) CHECK(verdict_on(ring(ranks)).wrong.empty());
}

TEST_CASE("the first rank and chunk that differ are named") {
  Schedule schedule = ring(4);
  schedule.ranks[2].blocks[0].steps[1].source.chunk =
      0;  // adds another chunk than that of the message
  // The sum of chunk 0 that rank 2 should have added to passes on: of chunk 1, it is wrong everywhere.
  CHECK_THAT(verdict_on(schedule).wrong, ContainsSubstring("rank 0, chunk 1 of the result: "));
  Schedule late = two_ranks();
  late.ranks[1].blocks[0].steps[3].destination = {Memory::scratch, 0};
  CHECK_THAT(verdict_on(late).wrong, ContainsSubstring("rank 1, chunk 0 of the result: "));
}

TEST_CASE("what was never written is said to be so") {
  Schedule schedule = two_ranks();
  CHECK_THAT(verdict_on(schedule, false).wrong,
             ContainsSubstring("rank 0, chunk 0 of the result: what was never written and not "));
}

TEST_CASE("every collective is held to its own result") {
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

TEST_CASE("in place, parts lie where NCCL has them") {
  // AllGather: the input is the rank's part of the output, so nothing is copied.
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

TEST_CASE("nothing is compared of what nobody knows") {
  Schedule schedule = two_ranks();
  schedule.collective = Collective::custom;
  CHECK_FALSE(verdict_on(schedule).checked);
}

TEST_CASE("messages may be transmitted with loss, but not again where they are sent on") {
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
  CHECK(transmitted == 3 * 3);  // send, rrs, rrcs of each rank: not rcs
  // The rank that makes a sum has what two messages lost; the others what three did.
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
