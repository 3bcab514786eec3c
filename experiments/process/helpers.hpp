// Threads that do what may be wanted next, while one thread decides what is wanted.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace equarx::process {

/// Helpers work off what is proposed, first things first. One thread, which is no helper, calls the others' functions.
class Helpers {
 public:
  using Work = std::function<void()>;

  /// `threads`: of helpers, if the system allows as many. None is allowed; then work_until() alone works.
  explicit Helpers(unsigned threads);
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  Helpers(Helpers&&) = delete;
  Helpers& operator=(Helpers&&) = delete;
  /// Waits for what runs, and forgets what nobody has begun.
  ~Helpers();

  std::size_t threads() const { return threads_.size(); }

  /// What is to be done in place of what was proposed before and nobody has begun. No work may throw.
  void propose(std::vector<Work> work);

  /// Works, too, until `done`, which is asked again after each piece of work, and whenever tell() is called.
  void work_until(const std::function<bool()>& done);

  /// Says that what work_until() waits for may be done. Called by work; thread-safe.
  void tell();

 private:
  void help();
  bool do_next(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> proposed_;
  bool over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace equarx::process
