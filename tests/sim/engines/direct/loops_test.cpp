#include "sim/engines/direct/loops.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace equarx::sim::loops_test {
namespace {

using Kind = Step::Kind;

/// `times` periods: a send on each channel below `period`.
void add_sends(std::uint32_t period, std::uint32_t times, std::vector<Step>& list) {
  for (std::uint32_t i = 0; i < period * times; ++i)
    list.push_back({.kind = Kind::send, .number = i % period, .bytes = 8, .message = i});
}

TEST_CASE("steps that repeat but for their messages are a loop") {
  std::vector<Step> list(3, {.kind = Kind::mark});
  add_sends(10, 20, list);
  list.push_back({});
  const std::vector<Loop> loops = find_loops(list);
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].period == 10);
  CHECK(loops[0].begin == list.data() + 3);
  CHECK(loops[0].end == list.data() + 203);
  CHECK(loops[0].contains(list.data() + 202));
  CHECK_FALSE(loops[0].contains(list.data() + 203));
}

TEST_CASE("the period of nested repetitions is the outer one if the inner ones are short") {
  std::vector<Step> list;
  for (int i = 0; i < 12; ++i) {
    add_sends(1, 5, list);
    list.push_back({.kind = Kind::wait, .number = 3});
    add_sends(2, 4, list);
  }
  const std::vector<Loop> loops = find_loops(list);
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].period == 14);
}

TEST_CASE("seven periods are none, and loops of different periods are apart") {
  std::vector<Step> list;
  add_sends(12, 7, list);
  CHECK(find_loops(list).empty());
  add_sends(12, 3, list);
  list.push_back({.kind = Kind::work, .delay_s = 1.0});
  add_sends(9, 30, list);
  const std::vector<Loop> loops = find_loops(list);
  REQUIRE(loops.size() == 2);
  CHECK(loops[0].period == 12);
  CHECK(loops[1].period == 9);
  CHECK(loops[0].end <= loops[1].begin);
}

TEST_CASE("any difference ends a loop, as do steps that meet other streams") {
  for (const auto& change : std::vector<void (*)(Step&)>{
           [](Step& step) { step.bytes = 9; }, [](Step& step) { step.delay_s = 1e-9; },
           [](Step& step) { step.link_s = 1e-9; }, [](Step& step) { step.latency_s = 1e-9; },
           [](Step& step) { step.least_s = 1e-9; }, [](Step& step) { step.hbm_bytes = 1; },
           [](Step& step) { step.overlapped_s = 1e-9; }, [](Step& step) { step.number = 77; },
           [](Step& step) { step.kind = Kind::wait; }, [](Step& step) { step.kind = Kind::signal; },
           [](Step& step) { step.kind = Kind::mark; }}) {
    std::vector<Step> list;
    add_sends(10, 14, list);
    change(list[70]);
    CHECK(find_loops(list).empty());
    change(list[130]);
    for (const Loop& loop : find_loops(list)) CHECK_FALSE(loop.contains(list.data() + 70));
  }
  std::vector<Step> events(200, {.kind = Kind::signal});
  CHECK(find_loops(events).empty());
  CHECK(find_loops({}).empty());
}

}  // namespace
}  // namespace equarx::sim::loops_test
