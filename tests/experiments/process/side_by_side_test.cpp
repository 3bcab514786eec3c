#include "experiments/process/side_by_side.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::process::side_by_side_test {
namespace {

TEST_CASE("everything is done once, on however many threads") {
  for (const unsigned threads : {0U, 1U, 3U, 100U})
    for (const std::size_t count : {0U, 1U, 2U, 50U}) {
      std::vector<std::atomic<int>> calls(count);
      for_each_side_by_side(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const std::atomic<int>& of_one : calls) CHECK(of_one == 1);
    }
}

TEST_CASE("of several errors the first one by number is thrown, when all have ended") {
  std::atomic<int> done = 0;
  const auto work = [&](std::size_t i) {
    ++done;
    if (i >= 3) throw std::runtime_error(std::to_string(i));
  };
  CHECK_THROWS_WITH(for_each_side_by_side(10, 4, work), "3");
  CHECK(done == 10);
}

}  // namespace
}  // namespace equarx::process::side_by_side_test
