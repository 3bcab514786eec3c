#include "importers/msccl/memories.hpp"

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::memories_test {
namespace {

using namespace schedules;

TEST_CASE("out of place, buffers do not share chunks") {
  const Schedule schedule = two_ranks();
  const Memories memories(schedule, false);
  CHECK(memories.size() == 2 * (2 + 2 + 1));
  CHECK(memories.at(0, Memory::input, 1) + 1 == memories.at(0, Memory::output, 0));
  CHECK(memories.at(1, Location{Memory::scratch, 0}) == memories.size() - 1);
}

TEST_CASE("in place, the smaller buffer is a rank's part of the larger one") {
  Schedule schedule = two_ranks();
  schedule.chunks = 4;
  CHECK(Memories(schedule, true).at(1, Memory::input, 3) ==
        Memories(schedule, true).at(1, Memory::output, 3));
  schedule.collective = Collective::all_gather;
  CHECK(Memories(schedule, true).at(1, Memory::input, 0) ==
        Memories(schedule, true).at(1, Memory::output, 2));
  schedule.collective = Collective::reduce_scatter;
  CHECK(Memories(schedule, true).at(1, Memory::output, 1) ==
        Memories(schedule, true).at(1, Memory::input, 3));
  CHECK(Memories(schedule, true).size() == 2 * (4 + 1));
}

}  // namespace
}  // namespace equarx::testing::memories_test
