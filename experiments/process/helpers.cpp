#include "experiments/process/helpers.hpp"

#include <iterator>
#include <utility>

#include "models/os/threads.hpp"

namespace equarx::process {

Helpers::Helpers(unsigned threads) {
  os::add_threads(threads_, threads, [this] { help(); });
}

Helpers::~Helpers() {
  const std::scoped_lock lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

void Helpers::propose(std::vector<Work> work) {
  const std::scoped_lock lock(mutex_);
  proposed_.assign(std::move_iterator(work.begin()), std::move_iterator(work.end()));
  changed_.notify_all();
}

void Helpers::work_until(const std::function<bool()>& done) {
  std::unique_lock lock(mutex_);
  while (!done())
    if (!do_next(lock)) changed_.wait(lock);
}

void Helpers::tell() {
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

void Helpers::help() {
  std::unique_lock lock(mutex_);
  while (!over_)
    if (!do_next(lock)) changed_.wait(lock);
}

/// Does what was proposed first, unlocked; false if there is nothing.
bool Helpers::do_next(std::unique_lock<std::mutex>& lock) {
  if (proposed_.empty()) return false;
  const Work work = std::move(proposed_.front());
  proposed_.pop_front();
  lock.unlock();
  work();
  lock.lock();
  return true;
}

}  // namespace equarx::process
