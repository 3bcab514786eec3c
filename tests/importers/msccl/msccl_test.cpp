#include "importers/msccl/msccl.hpp"

#include "base/input/errors.hpp"
#include "importers/msccl/msccl_xml.hpp"
#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing::msccl_test {
namespace {

using imports::read_msccl;
using schedules::Schedule;

std::string text_of(const Schedule& schedule) { return schedules::write_msccl_xml(schedule); }

TEST_CASE("a correct schedule is verified and checked for races") {
  const imports::MscclSchedule checked = read_msccl(text_of(ring(4)));
  CHECK(checked.schedule == ring(4));
  CHECK(checked.compared);
  CHECK(checked.looked_for_races);
  Schedule custom = ring(4);
  custom.collective = schedules::Collective::custom;
  CHECK_FALSE(read_msccl(text_of(custom)).compared);
}

TEST_CASE("incorrect schedules are rejected") {
  Schedule wrong = ring(4);
  wrong.ranks[2].blocks[0].steps[1].source.chunk = 0;
  CHECK_THAT(
      message_of([&] { read_msccl(text_of(wrong)); }),
      ContainsSubstring("is not a correct allreduce, in place: rank 0, chunk 1 of the result"));
  Schedule gather = ring(4);
  gather.collective = schedules::Collective::all_gather;
  for (schedules::Rank& rank : gather.ranks)
    for (schedules::Step& step : rank.blocks[0].steps)
      for (schedules::Location* place : {&step.source, &step.destination})
        place->memory = schedules::Memory::output;
  CHECK_THAT(message_of([&] { read_msccl(text_of(gather)); }),
             ContainsSubstring("is not a correct allgather, in place: rank 0, chunk "));
  Schedule race = two_ranks();
  race.ranks[0].blocks[1].steps[0].after.reset();
  CHECK_THAT(message_of([&] { read_msccl(text_of(race)); }),
             ContainsSubstring("has a race, in place: "));
  Schedule stuck = two_ranks();
  for (schedules::Rank& rank : stuck.ranks) {
    rank.blocks[0].steps[2].signals = true;
    rank.blocks[1].steps[0].after = schedules::Dependency{0, 2};
  }
  CHECK_THAT(message_of([&] { read_msccl(text_of(stuck)); }), ContainsSubstring("deadlocks: "));
  Schedule out_of_place = two_ranks();
  out_of_place.out_of_place = true;
  CHECK_THAT(message_of([&] { read_msccl(text_of(out_of_place)); }),
             ContainsSubstring("is not a correct allreduce, out of place: "));
  CHECK_THAT(message_of([&] { read_msccl("<algo"); }), ContainsSubstring("not XML"));
  CHECK_THAT(message_of([&] { read_msccl(" {\"gpus\": []}"); }),
             ContainsSubstring("execution plans of MSCCL++"));
  CHECK_THAT(message_of([&] { imports::read_schedule_text("/nowhere"); }),
             ContainsSubstring("/nowhere"));
  CHECK(imports::is_schedule("<algo>"));
}

}  // namespace
}  // namespace equarx::testing::msccl_test
