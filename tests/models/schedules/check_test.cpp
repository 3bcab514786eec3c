#include "models/schedules/check.hpp"

#include "tests/catch.hpp"
#include "tests/models/schedules/schedules.hpp"

namespace equarx::testing::check_test {
namespace {

using namespace schedules;

/// What is said of a schedule in which one thing is changed.
template <typename Change>
std::string refusal_of(Change&& change) {
  Schedule schedule = two_ranks();
  change(schedule);
  return refusal([&] { check(schedule); });
}

TEST_CASE("schedules that fit are accepted") {
  CHECK_NOTHROW(check(two_ranks()));
  CHECK_NOTHROW(check(ring(5)));
}

TEST_CASE("what does not fit is named with its place") {
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
      ContainsSubstring("waits for step 0 of thread block 2 of its rank, which there is not"));
  CHECK_THAT(refusal_of([](Schedule& s) {
               s.ranks[0].blocks[0].steps[2].after = Dependency{0, 3};
             }),
             ContainsSubstring("it would wait for ever"));
  CHECK_THAT(refusal_of([](Schedule& s) { s.ranks[0].blocks[1].steps[0].signals = false; }),
             ContainsSubstring("whose hasdep is 0"));
}

TEST_CASE("both ends of a queue have to be as many, and as long") {
  CHECK_THAT(
      refusal_of([](Schedule& s) {
        s.ranks[0].blocks[0].steps[0] = {.op = Op::send, .source = {Memory::input, 0}, .count = 2};
      }),
      ContainsSubstring("step 0 of thread block 0 of rank 0: sends 2 chunks, and step 1 of "
                        "thread block 0 of rank 1 that receives them takes 1"));
  CHECK_THAT(
      refusal_of([](Schedule& s) { s.ranks[1].blocks[0].steps.pop_back(); }),
      ContainsSubstring("from rank 0 to rank 1 on channel 0 go 2 messages, and 1 are received"));
}

TEST_CASE("chunks divide among ranks where the collective has parts") {
  const auto chunks = [](Collective collective) {
    return refusal_of([&](Schedule& s) {
      s.collective = collective;
      s.chunks = 3;
    });
  };
  for (const Collective collective :
       {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all})
    CHECK_THAT(chunks(collective),
               ContainsSubstring("nchunksperloop=\"3\" does not divide among 2 ranks"));
  CHECK(chunks(Collective::all_reduce).empty());
  CHECK_THAT(refusal([] { check({}); }), ContainsSubstring("has no rank"));
}

}  // namespace
}  // namespace equarx::testing::check_test
