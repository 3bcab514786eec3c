#include "importers/msccl/races.hpp"

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::races_test {
namespace {

using namespace schedules;

std::string race_of(const Schedule& schedule, bool in_place = true) {
  check(schedule);
  return find_race(schedule, find_queues(schedule), in_place);
}

TEST_CASE("accesses ordered by dependencies and messages are not races") {
  CHECK(race_of(two_ranks()).empty());
  CHECK(race_of(ring(6)).empty());
  CHECK(can_look_for_races(two_ranks()));
}

TEST_CASE("a sum without a dependency is a race, whichever access comes first") {
  Schedule schedule = two_ranks();
  schedule.ranks[1].blocks[1].steps[0].after.reset();
  const std::string race = race_of(schedule);
  CHECK_THAT(race, ContainsSubstring("of rank 1") && ContainsSubstring("chunk 0 of \"s\""));
}

TEST_CASE("in place, writing an output races with reading the aliased input") {
  Schedule schedule = two_ranks();
  for (Rank& rank : schedule.ranks) {
    rank.blocks.push_back({});
    rank.blocks[2].steps = {{.op = Op::copy,
                             .source = {Memory::scratch, 1},
                             .destination = {Memory::output, 0},
                             .count = 1}};
    rank.chunks[2] = 2;
  }
  CHECK(race_of(schedule, false).empty());
  CHECK_THAT(race_of(schedule, true), ContainsSubstring("unordered with"));
}

TEST_CASE("messages order the steps of different ranks") {
  Schedule schedule = two_ranks();
  // A further thread block of rank 0 reads the chunk sent first, after rank 1's answer arrives.
  schedule.ranks[0].blocks[0].steps[3].signals = true;
  schedule.ranks[0].blocks.push_back({});
  schedule.ranks[0].blocks[2].steps = {{.op = Op::copy,
                                        .source = {Memory::input, 1},
                                        .destination = {Memory::scratch, 1},
                                        .count = 1,
                                        .after = Dependency{0, 3}}};
  schedule.ranks[0].chunks[2] = 2;
  CHECK(race_of(schedule).empty());
  schedule.ranks[0].blocks[2].steps[0].after.reset();
  CHECK_FALSE(race_of(schedule).empty());
}

}  // namespace
}  // namespace equarx::testing::races_test
