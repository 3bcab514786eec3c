#include "sim/simgrid/child_process.hpp"

#include <csignal>
#include <latch>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::sim::child_process_test {
namespace {

std::vector<std::byte> no_bytes() { return {}; }

TEST_CASE("a child returns its bytes, however many") {
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

TEST_CASE("who waits for a child may look meanwhile") {
  const SharedMemory memory(sizeof(int));
  auto* looks = static_cast<volatile int*>(memory.data());
  const ChildOutcome outcome = run_in_child(
      [looks] {
        while (*looks < 2) usleep(1000);  // so it ends only if somebody looks
        return std::vector<std::byte>(3);
      },
      [looks] { *looks = *looks + 1; });
  CHECK(outcome.succeeded);
  CHECK(outcome.bytes.size() == 3);
}

TEST_CASE("a child's exception, signal or exit becomes a failure in words") {
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

TEST_CASE("what a child does to memory stays there, unless the memory is shared") {
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

TEST_CASE("a process with other threads is not forked") {
  std::latch done(1);
  const std::jthread other([&] { done.wait(); });
  CHECK_THROWS_AS(run_in_child(no_bytes), std::logic_error);
  done.count_down();
}

}  // namespace
}  // namespace equarx::sim::child_process_test
