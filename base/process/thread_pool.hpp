// Worker threads for speculative tasks, queued by a coordinating thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace equarx::process {

/// Processes a replaceable queue of tasks in order. All public functions except notify() and
/// idle() are called by one coordinating thread, which is not a worker.
class ThreadPool {
 public:
  using Work = std::function<void()>;

  /// Starts up to `threads` workers, as many as the system allows. With none, help_until() alone
  /// runs tasks.
  explicit ThreadPool(unsigned threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;
  /// Joins the workers; queued tasks are dropped.
  ~ThreadPool();

  std::size_t threads() const { return threads_.size(); }
  /// Workers that wait for tasks while none is queued. Thread-safe.
  std::size_t idle() const;

  /// Replaces the queue; tasks not yet started are dropped. Tasks must not throw.
  void replace_queue(std::vector<Work> work);

  /// Runs tasks on the calling thread until `done` returns true. `done` is re-evaluated after each
  /// task and after notify().
  void help_until(const std::function<bool()>& done);

  /// Wakes help_until() to re-evaluate its condition. Called by tasks; thread-safe.
  void notify();

 private:
  void worker_main();
  bool run_next(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  std::size_t waiting_ = 0;  ///< workers
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace equarx::process
