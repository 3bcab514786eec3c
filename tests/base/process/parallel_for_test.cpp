#include "base/process/parallel_for.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::process::parallel_for_test {
namespace {

TEST_CASE("process::parallel_for runs every index once, on any number of threads") {
  for (const unsigned threads : {0U, 1U, 3U, 100U})
    for (const std::size_t count : {0U, 1U, 2U, 50U}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const std::atomic<int>& of_one : calls) CHECK(of_one == 1);
    }
}

TEST_CASE("process::parallel_for runs all indices and then throws the exception of the lowest") {
  std::atomic<int> done = 0;
  const auto work = [&](std::size_t i) {
    ++done;
    if (i >= 3) throw std::runtime_error(std::to_string(i));
  };
  CHECK_THROWS_WITH(parallel_for(10, 4, work), "3");
  CHECK(done == 10);
}

}  // namespace
}  // namespace equarx::process::parallel_for_test
