#include "base/os/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/os/thread_tokens.hpp"
#include "base/os/threads.hpp"

namespace equarx::os {
namespace {

using Body = std::function<void(std::size_t index, unsigned thread)>;

class Loop {
 public:
  Loop(std::size_t count, unsigned threads, const Body& body)
      : count_(count),
        most_others_(std::max<std::size_t>(std::min<std::size_t>(threads, count), 1) - 1),
        body_(body) {}

  void run() {
    if (tokens_ == nullptr) add_threads(others_, most_others_, [this] { work(++started_); });
    work(0);
    join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work(unsigned thread) {
    for (std::size_t i = next_++; i < count_; i = next_++) {
      if (tokens_ != nullptr && i + 1 < count_) borrow_thread();
      try {
        body_(i, thread);
      } catch (...) {
        next_ = count_;
        const std::scoped_lock lock(mutex_);
        if (i > failed_) continue;
        failed_ = i;
        error_ = std::current_exception();
      }
    }
  }

  /// Starts another thread if the loop wants one and there is a token, which it returns.
  void borrow_thread() {
    const std::scoped_lock lock(mutex_);
    if (started_ >= most_others_ || !tokens_->take()) return;
    const unsigned thread = ++started_;
    try {
      others_.emplace_back([this, thread] {
        work(thread);
        tokens_->add(1);
      });
    } catch (const std::system_error&) {  // continue with the threads started so far
      tokens_->add(1);
    }
  }

  /// Joins all threads, which may start others meanwhile.
  void join() {
    for (;;) {
      std::vector<std::jthread> ending;
      const std::scoped_lock lock(mutex_);
      if (others_.empty()) return;
      ending.swap(others_);
    }
  }

  std::size_t count_;
  std::size_t most_others_;  // threads besides the caller's
  const Body& body_;
  ThreadTokens* tokens_ = thread_tokens();
  std::atomic<std::size_t> next_ = 0;
  std::atomic<unsigned> started_ = 0;  // threads besides the caller's
  std::mutex mutex_;
  std::vector<std::jthread> others_;
  std::size_t failed_ = count_;  // lowest index that threw
  std::exception_ptr error_;
};

}  // namespace

void parallel_for(std::size_t count, unsigned threads, const Body& body) {
  Loop(count, threads, body).run();
}

}  // namespace equarx::os
