#include "base/os/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::parallel_for_test {
namespace {

using equarx::os::parallel_for;

TEST_CASE("parallel_for runs every index once, on any number of threads") {
  for (const unsigned threads : {0U, 1U, 3U, 100U})
    for (const std::size_t count : {0U, 1U, 2U, 50U}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i, unsigned) { ++calls[i]; });
      CHECK(std::ranges::all_of(calls, [](const std::atomic<int>& one) { return one == 1; }));
    }
}

TEST_CASE("parallel_for numbers its threads, the caller's 0, and never overlaps their calls") {
  constexpr unsigned kThreads = 4;
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::atomic<bool>> busy(kThreads);
  std::atomic<int> errors = 0;
  parallel_for(1000, kThreads, [&](std::size_t, unsigned thread) {
    if (busy.at(thread).exchange(true)) ++errors;
    if ((thread == 0) != (std::this_thread::get_id() == caller)) ++errors;
    busy.at(thread) = false;
  });
  CHECK(errors == 0);
}

TEST_CASE("parallel_for uses no more threads than there are indices") {
  std::atomic<unsigned> largest = 0;
  parallel_for(2, 100, [&](std::size_t, unsigned thread) {
    if (thread > largest) largest = thread;
  });
  CHECK(largest < 2);
}

TEST_CASE("parallel_for throws the exception of the lowest index that throws") {
  const auto body = [](std::size_t i, unsigned) {
    if (i >= 3) throw std::runtime_error(std::to_string(i));
  };
  for (int round = 0; round < 100; ++round) CHECK_THROWS_WITH(parallel_for(10, 4, body), "3");
}

TEST_CASE("parallel_for starts no further index after an exception") {
  std::atomic<int> calls = 0;
  const auto body = [&](std::size_t i, unsigned) {
    ++calls;
    if (i == 3) throw std::runtime_error("failed");
  };
  CHECK_THROWS_WITH(parallel_for(10, 1, body), "failed");
  CHECK(calls == 4);
}

}  // namespace
}  // namespace equarx::parallel_for_test
