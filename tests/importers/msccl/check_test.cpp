#include "importers/msccl/check.hpp"

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::check_test {
namespace {

using namespace schedules;

/// Returns the error of check() for two_ranks() with one change.
template <typename Change>
std::string refusal_of(Change&& change) {
  Schedule schedule = two_ranks();
  change(schedule);
  return refusal([&] { check(schedule); });
}

TEST_CASE("consistent schedules pass check()") {
  CHECK_NOTHROW(check(two_ranks()));
  CHECK_NOTHROW(check(ring(5)));
}

TEST_CASE("invalid chunks and dependencies are refused with their location") {
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[0].steps[3].destination.chunk = 2; }),
             ContainsSubstring(
                 "step 3 of thread block 0 of rank 0: uses chunks 2 to 2 of \"i\", which has 2"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[1].chunks[2] = 0; }),
             ContainsSubstring("step 1 of thread block 0 of rank 1") &&
                 ContainsSubstring("of \"s\", which has 0"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[0].steps[0].count = 0xFFFFFFFF; }),
             ContainsSubstring("which has 2"));
  CHECK_THAT(
      refusal_of([](Schedule& s) {
        s.ranks[0].blocks[0].steps[2].after = Dependency{2, 0};
      }),
      ContainsSubstring("waits for step 0 of thread block 2 of its rank, which does not exist"));
  CHECK_THAT(refusal_of([](Schedule& s) {
               s.ranks[0].blocks[0].steps[2].after = Dependency{0, 3};
             }),
             ContainsSubstring("would wait forever"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[1].steps[0].signals = false; }),
             ContainsSubstring("whose hasdep is 0"));
}

TEST_CASE("both ends of a queue must agree on messages and chunks") {
  CHECK_THAT(
      refusal_of([](Schedule& s) {
        s.ranks[0].blocks[0].steps[0] = {.op = Op::send, .source = {Memory::input, 0}, .count = 2};
      }),
      ContainsSubstring("step 0 of thread block 0 of rank 0: sends 2 chunks, but step 1 of "
                        "thread block 0 of rank 1, which receives them, expects 1"));
  CHECK_THAT(
      refusal_of([](Schedule& s) { s.ranks[1].blocks[0].steps.pop_back(); }),
      ContainsSubstring("from rank 0 to rank 1 on channel 0, 2 messages are sent but 1 received"));
}

TEST_CASE("partitioned collectives need a multiple of the ranks as chunks") {
  const auto chunks = [](Collective collective) {
    return refusal_of([&](Schedule& s) {
      s.collective = collective;
      s.chunks = 3;
    });
  };
  for (const Collective collective :
       {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all})
    CHECK_THAT(chunks(collective),
               ContainsSubstring("nchunksperloop=\"3\" is not a multiple of the 2 ranks"));
  CHECK(chunks(Collective::all_reduce).empty());
  CHECK_THAT(refusal([] { check({}); }), ContainsSubstring("has no ranks"));
}

}  // namespace
}  // namespace equarx::testing::check_test
