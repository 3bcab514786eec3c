#include "base/os/thread_tokens.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/os/parallel_for.hpp"
#include "tests/catch.hpp"

namespace equarx::os::thread_tokens_test {
namespace {

int count_free(ThreadTokens& tokens) {
  int count = 0;
  while (tokens.take()) ++count;
  tokens.add(count);
  return count;
}

TEST_CASE("as many tokens can be taken as were added") {
  ThreadTokens tokens;
  CHECK_FALSE(tokens.take());
  tokens.add(2);
  CHECK(tokens.take());
  CHECK(tokens.take());
  CHECK_FALSE(tokens.take());
  tokens.add(1);
  CHECK(count_free(tokens) == 1);
}

TEST_CASE("forked processes share the tokens") {
  ThreadTokens tokens;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    tokens.add(3);
    _exit(tokens.take() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(count_free(tokens) == 2);
}

TEST_CASE("a limit lasts as long as its object") {
  ThreadTokens tokens;
  CHECK(thread_tokens() == nullptr);
  {
    const LimitedThreads limit(tokens);
    CHECK(thread_tokens() == &tokens);
  }
  CHECK(thread_tokens() == nullptr);
}

/// Numbers of threads that ran indices of a loop on up to four threads.
std::set<unsigned> threads_of_loop(const std::function<void(std::size_t)>& body) {
  std::mutex mutex;
  std::set<unsigned> threads;
  std::atomic<int> calls = 0;
  constexpr std::size_t kIndices = 64;
  parallel_for(kIndices, 4, [&](std::size_t index, unsigned thread) {
    ++calls;
    body(index);
    const std::scoped_lock lock(mutex);
    threads.insert(thread);
  });
  CHECK(calls == kIndices);
  return threads;
}

void pause(std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

TEST_CASE("a loop runs on the caller's thread alone while there is no token") {
  ThreadTokens tokens;
  const LimitedThreads limit(tokens);
  CHECK(threads_of_loop(pause) == std::set<unsigned>{0});
}

TEST_CASE("a loop takes tokens as they become free, and returns them") {
  ThreadTokens tokens;
  const LimitedThreads limit(tokens);
  const std::set<unsigned> threads = threads_of_loop([&](std::size_t index) {
    if (index == 8) tokens.add(2);
    pause(index);
  });
  CHECK(threads == std::set<unsigned>{0, 1, 2});
  CHECK(count_free(tokens) == 2);
}

TEST_CASE("a loop takes no more tokens than it wants threads") {
  ThreadTokens tokens;
  tokens.add(100);
  const LimitedThreads limit(tokens);
  CHECK(threads_of_loop(pause) == std::set<unsigned>{0, 1, 2, 3});
  CHECK(count_free(tokens) == 100);
}

TEST_CASE("tokens are returned after an exception, and the lowest index's is thrown") {
  ThreadTokens tokens;
  tokens.add(3);
  const LimitedThreads limit(tokens);
  CHECK_THROWS_WITH(parallel_for(8, 4,
                                 [](std::size_t index, unsigned) {
                                   if (index == 0) pause(index);
                                   throw std::runtime_error(std::to_string(index));
                                 }),
                    "0");
  CHECK(count_free(tokens) == 3);
}

}  // namespace
}  // namespace equarx::os::thread_tokens_test
