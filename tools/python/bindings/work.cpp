#include "tools/python/bindings/work.hpp"

#include <chrono>
#include <future>
#include <list>
#include <thread>

#include <unistd.h>

namespace equarx::python {
namespace {

namespace py = pybind11;
using std::chrono::milliseconds;

/// Between two looks for signals: short beside what somebody notices, long beside what a look costs.
constexpr milliseconds kLook{20};
/// What work has to end by itself once it is no longer wanted.
constexpr milliseconds kGrace{100};

struct Stopped : std::exception {};

/// Work whose caller has not waited for its end. Guarded by the interpreter's lock.
struct LeftBehind {
  pid_t process;  ///< that it is a thread of; a forked child has only the memory of it
  std::thread thread;
  std::shared_future<void> ended;
  py::object keep;
};

std::list<LeftBehind>& left_behind() {
  // Never destroyed: Python objects must not outlive the interpreter, nor be released after it.
  static auto* const all = new std::list<LeftBehind>;
  return *all;
}

/// Forgets what has ended. With the interpreter's lock.
void forget_ended() {
  left_behind().remove_if([](LeftBehind& one) {
    if (one.ended.wait_for(milliseconds(0)) != std::future_status::ready) return false;
    one.thread.join();
    return true;
  });
}

bool has_ended(const std::shared_future<void>& ended, milliseconds within) {
  const py::gil_scoped_release release;
  return ended.wait_for(within) == std::future_status::ready;
}

}  // namespace

void StopFlag::check() const {
  if (*raised_) throw Stopped();
}

void wait_for(std::function<void()> work, const StopFlag& stop, py::object keep) {
  forget_ended();
  std::packaged_task<void()> task(std::move(work));
  const std::shared_future<void> ended = task.get_future().share();
  std::thread thread(std::move(task));
  while (!has_ended(ended, kLook)) {
    if (PyErr_CheckSignals() == 0) continue;
    py::error_already_set interrupt;  // taken now: waiting must not begin with an error set
    stop.raise();
    if (has_ended(ended, kGrace))
      thread.join();
    else
      left_behind().push_back({getpid(), std::move(thread), ended, std::move(keep)});
    throw interrupt;
  }
  thread.join();
  ended.get();
}

void finish_work() {
  for (LeftBehind& one : left_behind()) {
    const py::gil_scoped_release release;
    if (one.process == getpid())
      one.thread.join();
    else
      one.thread.detach();
  }
  left_behind().clear();
}

}  // namespace equarx::python
