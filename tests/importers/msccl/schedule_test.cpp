#include "importers/msccl/schedule.hpp"

#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::schedule_test {
namespace {

using namespace schedules;

TEST_CASE("the letters of an op match its properties") {
  for (const Op op :
       {Op::nop, Op::send, Op::receive, Op::copy, Op::reduce, Op::receive_copy_send,
        Op::receive_reduce_send, Op::receive_reduce_copy, Op::receive_reduce_copy_send}) {
    const std::string_view letters = name(op);
    INFO(letters);
    if (op == Op::nop || op == Op::copy || op == Op::reduce) {
      CHECK_FALSE((sends(op) || receives(op)));
      continue;
    }
    CHECK(receives(op) == letters.starts_with('r'));
    CHECK(sends(op) == letters.ends_with('s'));
    const bool adds = letters.starts_with("rr");
    CHECK(reads_source(op) == (adds || op == Op::send));
    CHECK(writes_destination(op) ==
          (letters.find('c') != std::string_view::npos || op == Op::receive));
  }
}

TEST_CASE("the collective determines the chunks of buffers") {
  Schedule schedule = two_ranks();
  schedule.chunks = 6;
  CHECK(memory_chunks(schedule, 0, Memory::input) == 6);
  CHECK(memory_chunks(schedule, 0, Memory::output) == 6);
  CHECK(memory_chunks(schedule, 0, Memory::scratch) == 1);
  schedule.collective = Collective::all_gather;
  CHECK(memory_chunks(schedule, 0, Memory::input) == 3);
  CHECK(memory_chunks(schedule, 0, Memory::output) == 6);
  schedule.collective = Collective::reduce_scatter;
  CHECK(memory_chunks(schedule, 0, Memory::input) == 6);
  CHECK(memory_chunks(schedule, 0, Memory::output) == 3);
  schedule.collective = Collective::custom;
  CHECK(memory_chunks(schedule, 0, Memory::input) == 2);
  CHECK(memory_chunks(schedule, 0, Memory::output) == 0);
}

TEST_CASE("steps are described with their line, if known") {
  Schedule schedule = two_ranks();
  CHECK(describe(schedule, 1, 0, 2) == "step 2 of thread block 0 of rank 1");
  schedule.ranks[1].blocks[0].steps[2].line = 7;
  CHECK(describe(schedule, 1, 0, 2) == "step 2 of thread block 0 of rank 1 (line 7)");
  CHECK(count_steps(schedule) == 10);
  CHECK(count_blocks(schedule) == 4);
}

}  // namespace
}  // namespace equarx::testing::schedule_test
