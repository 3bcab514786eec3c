#include "base/process/thread_pool.hpp"

#include <iterator>
#include <utility>

#include "base/os/threads.hpp"

namespace equarx::process {

ThreadPool::ThreadPool(unsigned threads) {
  os::add_threads(threads_, threads, [this] { worker_main(); });
}

ThreadPool::~ThreadPool() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

std::size_t ThreadPool::idle() const {
  const std::scoped_lock lock(mutex_);
  return queue_.empty() ? waiting_ : 0;
}

void ThreadPool::replace_queue(std::vector<Work> work) {
  const std::scoped_lock lock(mutex_);
  queue_.assign(std::move_iterator(work.begin()), std::move_iterator(work.end()));
  changed_.notify_all();
}

void ThreadPool::help_until(const std::function<bool()>& done) {
  std::unique_lock lock(mutex_);
  while (!done())
    if (!run_next(lock)) changed_.wait(lock);
}

void ThreadPool::notify() {
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

void ThreadPool::worker_main() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (run_next(lock)) continue;
    ++waiting_;
    changed_.wait(lock);
    --waiting_;
  }
}

/// Runs the first queued task without holding the lock; returns false if the queue is empty.
bool ThreadPool::run_next(std::unique_lock<std::mutex>& lock) {
  if (queue_.empty()) return false;
  const Work work = std::move(queue_.front());
  queue_.pop_front();
  lock.unlock();
  work();
  lock.lock();
  return true;
}

}  // namespace equarx::process
