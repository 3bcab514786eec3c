#include "sim/engines/simgrid/child_process.hpp"

#include <csignal>
#include <latch>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::sim::child_process_test {
namespace {

std::vector<std::byte> no_bytes() { return {}; }

TEST_CASE("a child returns results of any size") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 21}) {
    const ChildOutcome outcome = run_in_child([size] {
      std::vector<std::byte> bytes(size);
      for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7);
      return bytes;
    });
    REQUIRE(outcome.succeeded);
    REQUIRE(outcome.bytes.size() == size);
    for (std::size_t i = 0; i < size; i += 997)
      REQUIRE(outcome.bytes[i] == static_cast<std::byte>(i * 7));
  }
}

TEST_CASE("the parent polls while it waits for a child") {
  const SharedMemory memory(sizeof(int));
  auto* polls = static_cast<volatile int*>(memory.data());
  const ChildOutcome outcome = run_in_child(
      [polls] {
        while (*polls < 2) usleep(1000);  // ends only if the parent polls
        return std::vector<std::byte>(3);
      },
      [polls] { *polls = *polls + 1; });
  CHECK(outcome.succeeded);
  CHECK(outcome.bytes.size() == 3);
}

TEST_CASE("an exception, signal or exit of a child is reported as a failure") {
  const ChildOutcome thrown =
      run_in_child([]() -> std::vector<std::byte> { throw std::runtime_error("out of fuel"); });
  CHECK_FALSE(thrown.succeeded);
  CHECK(thrown.failure == "out of fuel");

  const ChildOutcome killed = run_in_child([] {
    raise(SIGABRT);
    return no_bytes();
  });
  CHECK_FALSE(killed.succeeded);
  CHECK_THAT(killed.failure, ContainsSubstring("signal 6"));

  const ChildOutcome left = run_in_child([]() -> std::vector<std::byte> { _exit(7); });
  CHECK_FALSE(left.succeeded);
  CHECK(left.failure == "exit code 7");
}

TEST_CASE("memory writes of a child are private unless the memory is shared") {
  int own = 1;
  const SharedMemory memory(sizeof(int));
  auto* shared = static_cast<int*>(memory.data());
  REQUIRE(*shared == 0);
  const ChildOutcome outcome = run_in_child([&] {
    own = 2;
    *shared = 3;
    return no_bytes();
  });
  REQUIRE(outcome.succeeded);
  CHECK(own == 1);
  CHECK(*shared == 3);
}

TEST_CASE("a process with other threads refuses to fork") {
  std::latch done(1);
  const std::jthread other([&] { done.wait(); });
  CHECK_THROWS_AS(run_in_child(no_bytes), std::logic_error);
  done.count_down();
}

TEST_CASE("a child starts right after other threads have been joined") {
  for (int i = 0; i < 200; ++i) {
    std::jthread([] {}).join();
    REQUIRE(run_in_child(no_bytes).succeeded);
  }
}

}  // namespace
}  // namespace equarx::sim::child_process_test
