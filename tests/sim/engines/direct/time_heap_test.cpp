#include "sim/engines/direct/time_heap.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "tests/catch.hpp"

namespace equarx::sim::time_heap_test {
namespace {

TEST_CASE("an empty heap is never due") {
  TimeHeap heap(3);
  CHECK(heap.empty());
  CHECK(heap.earliest_s() == std::numeric_limits<double>::infinity());
  heap.erase(2);  // no-op: has no time
  CHECK(heap.empty());
}

TEST_CASE("the earliest time is correct after arbitrary changes") {
  constexpr std::uint32_t kSize = 50;
  std::mt19937_64 random(3);
  TimeHeap heap(kSize);
  std::map<std::uint32_t, double> times;
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<std::uint32_t>(random() % kSize);
    if (random() % 3 == 0) {
      heap.erase(id);
      times.erase(id);
    } else {
      times[id] = static_cast<double>(random() % 1000);
      heap.set(id, times[id]);
    }
    REQUIRE(heap.empty() == times.empty());
    if (times.empty()) continue;
    const auto earliest =
        std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; });
    REQUIRE(heap.earliest_s() == earliest->second);
    REQUIRE(times.at(heap.earliest()) == earliest->second);
  }
}

}  // namespace
}  // namespace equarx::sim::time_heap_test
