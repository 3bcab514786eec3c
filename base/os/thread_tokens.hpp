// Threads that several processes share.
#pragma once

#include <atomic>
#include <memory>

namespace equarx::os {

/// Tokens, each for one thread of any of several processes besides those that they start with. A
/// token that a process holds when it crashes is lost.
class ThreadTokens {
 public:
  /// None at first. Shared with processes that are forked later. @throws std::bad_alloc
  ThreadTokens();

  /// Adds new tokens, or returns those taken.
  void add(int count) { *free_ += count; }
  /// Takes a token; returns false if there is none.
  bool take();

 private:
  std::unique_ptr<std::atomic<int>, void (*)(std::atomic<int>*)> free_;  ///< shared memory
};

/// Tokens that threads of parallel_for() in this process need, besides the callers'; null: none.
ThreadTokens* thread_tokens();

/// Sets thread_tokens() for its lifetime. For one at a time, while the process has one thread.
class LimitedThreads {
 public:
  /// `tokens` must outlive it.
  explicit LimitedThreads(ThreadTokens& tokens);
  ~LimitedThreads();
  LimitedThreads(const LimitedThreads&) = delete;
  LimitedThreads& operator=(const LimitedThreads&) = delete;
};

}  // namespace equarx::os
