#include "importers/msccl/walk.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::walk_test {
namespace {

using namespace schedules;

std::string stuck(const Schedule& schedule, const Cut& cut = {}) {
  check(schedule);
  return refusal([&] { walk(schedule, find_queues(schedule), cut); });
}

TEST_CASE("every step is visited once per loop, after its dependencies") {
  const Schedule schedule = two_ranks();
  std::vector<Visit> visits;
  walk(schedule, find_queues(schedule), {.loops = 3},
       [&](const Visit& visit) { visits.push_back(visit); });
  CHECK(visits.size() == 3 * count_steps(schedule));
  const auto when = [&](std::uint32_t block, std::uint32_t step, std::uint64_t loop) {
    for (std::size_t i = 0; i < visits.size(); ++i)
      if (visits[i].block == BlockId{0, block} && visits[i].step == step && visits[i].loop == loop)
        return i;
    return visits.size();
  };
  for (std::uint64_t loop = 0; loop < 3; ++loop) {
    CHECK(when(0, 1, loop) < when(1, 0, loop));
    CHECK(when(1, 0, loop) < when(0, 2, loop));
  }
}

TEST_CASE("a step of many chunks takes several messages") {
  CHECK(messages_of({.loops = 1, .chunks_at_once = 3}, 7) == 3);
  CHECK(messages_of({.loops = 1, .chunks_at_once = 3}, 6) == 2);
  CHECK(messages_of({}, 7) == 1);
}

TEST_CASE("deadlocked thread blocks are named") {
  Schedule schedule = two_ranks();
  // On both ranks, the sum waits for a later send.
  for (Rank& rank : schedule.ranks) {
    rank.blocks[0].steps[2].signals = true;
    rank.blocks[1].steps[0].after = Dependency{0, 2};
  }
  CHECK_THAT(stuck(schedule),
             ContainsSubstring("deadlocks: step 2 of thread block 0 of rank 0 waits for step 0 of "
                               "thread block 1; step 0 "
                               "of thread block 1 of rank 0 waits for step 2 of thread block 0"));
}

TEST_CASE("two ranks that both receive first deadlock") {
  Schedule schedule = two_ranks();
  for (Rank& rank : schedule.ranks) std::swap(rank.blocks[0].steps[0], rank.blocks[0].steps[1]);
  for (Rank& rank : schedule.ranks) rank.blocks[1].steps[0].after = Dependency{0, 0};
  CHECK_THAT(stuck(schedule), ContainsSubstring("waits for a message from rank 1"));
}

TEST_CASE("two ranks that both send first deadlock on full queues") {
  Schedule schedule = two_ranks();
  schedule.chunks = 8;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    schedule.ranks[rank].chunks = {8, 0, 4};
    for (ThreadBlock& block : schedule.ranks[rank].blocks)
      for (Step& step : block.steps) {
        step.count = 4;
        if (step.source.memory == Memory::input) step.source.chunk *= 4;
        if (step.destination.memory == Memory::input) step.destination.chunk *= 4;
      }
  }
  CHECK(stuck(schedule, {.loops = 2, .chunks_at_once = 2, .room = 2}).empty());
  CHECK_THAT(stuck(schedule, {.loops = 2, .chunks_at_once = 1, .room = 2}),
             ContainsSubstring(
                 "step 0 of thread block 0 of rank 0 waits for space in the queue to rank 1"));
}

TEST_CASE("a forwarded message keeps its queue slot until the outgoing queue has space") {
  // A ring in which each rank sends twice the capacity of a queue before it receives.
  Schedule schedule = ring(3);
  schedule.chunks = 12;
  for (Rank& rank : schedule.ranks) {
    rank.chunks = {12, 0, 0};
    for (Step& step : rank.blocks[0].steps) {
      step.count = 4;
      step.source.chunk *= 4;
      step.destination.chunk *= 4;
    }
  }
  // Two messages are in flight, and the first one of the next step needs a third slot.
  CHECK(stuck(schedule, {.loops = 3, .chunks_at_once = 2, .room = 3}).empty());
  CHECK_THAT(stuck(schedule, {.loops = 3, .chunks_at_once = 2, .room = 2}),
             ContainsSubstring("waits for space in the queue"));
}

}  // namespace
}  // namespace equarx::testing::walk_test
