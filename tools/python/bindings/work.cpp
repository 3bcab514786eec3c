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

/// Interval between checks for signals: too short to be noticed, long compared to the cost of a
/// check.
constexpr milliseconds kLook{20};
/// Time for cancelled work to end by itself.
constexpr milliseconds kGrace{100};

struct Stopped : std::exception {};

/// Work whose caller has stopped waiting for it. Guarded by the interpreter's lock.
struct Abandoned {
  pid_t process;  ///< owner of the thread; a forked child has only a copy of its memory
  std::thread thread;
  std::shared_future<void> ended;
  py::object keep;
};

std::list<Abandoned>& abandoned() {
  // Never destroyed: Python objects must not outlive the interpreter, nor be released after it.
  static auto* const all = new std::list<Abandoned>;
  return *all;
}

/// Removes finished work. Requires the interpreter's lock.
void remove_finished() {
  abandoned().remove_if([](Abandoned& one) {
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
  remove_finished();
  std::packaged_task<void()> task(std::move(work));
  const std::shared_future<void> ended = task.get_future().share();
  std::thread thread(std::move(task));
  while (!has_ended(ended, kLook)) {
    if (PyErr_CheckSignals() == 0) continue;
    py::error_already_set interrupt;  // fetched now: waiting must not begin with an error set
    stop.raise();
    if (has_ended(ended, kGrace))
      thread.join();
    else
      abandoned().push_back({getpid(), std::move(thread), ended, std::move(keep)});
    throw interrupt;
  }
  thread.join();
  ended.get();
}

void finish_work() {
  for (Abandoned& one : abandoned()) {
    const py::gil_scoped_release release;
    if (one.process == getpid())
      one.thread.join();
    else
      one.thread.detach();
  }
  abandoned().clear();
}

}  // namespace equarx::python
