#include "importers/msccl/queues.hpp"

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::queues_test {
namespace {

using namespace schedules;

template <typename Change>
std::string refusal_of(Change&& change) {
  Schedule schedule = two_ranks();
  change(schedule);
  return refusal([&] { find_queues(schedule); });
}

TEST_CASE("each peer and channel forms a queue") {
  const Queues queues = find_queues(ring(3));
  REQUIRE(queues.all.size() == 3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const Queue& queue = queues.all[queues.sent_by[rank][0].value()];
    CHECK(queue.sender == BlockId{rank, 0});
    CHECK(queue.receiver == BlockId{(rank + 1) % 3, 0});
    CHECK(queues.received_by[(rank + 1) % 3][0] == queues.sent_by[rank][0]);
  }
  CHECK_FALSE(find_queues(two_ranks()).sent_by[0][1]);  // only reduces
}

TEST_CASE("missing peers and queue ends are refused") {
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[0].send_to.reset(); }),
             ContainsSubstring(
                 "step 0 of thread block 0 of rank 0: is s, but its thread block has send=\"-1\""));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[0].receive_from.reset(); }),
             ContainsSubstring("step 1 of thread block 0 of rank 0: is r"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[0].send_to = 2; }),
             ContainsSubstring("send=\"2\" is not a rank; there are 2"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[1].blocks[0].receive_from = 1; }),
             ContainsSubstring("thread block 0 of rank 1: recv=\"1\" is the rank itself"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[0].channel = 1; }),
             ContainsSubstring("sends to rank 1 on channel 1, but no thread block there receives"));
  CHECK_THAT(
      refusal_of([](Schedule& s) {
        s.ranks[0].blocks[1].send_to = 1;
        s.ranks[0].blocks[1].steps.push_back({.op = Op::send, .count = 1});
      }),
      ContainsSubstring(
          "thread block 1 of rank 0: sends to the queue from rank 0 to rank 1 on channel 0, and "
          "so does thread block 0 of rank 0"));
}

}  // namespace
}  // namespace equarx::testing::queues_test
