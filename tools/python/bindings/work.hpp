// Runs work of the program for Python without holding the interpreter's lock.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <pybind11/pybind11.h>

namespace equarx::python {

/// True once the caller has given up: Ctrl-C. Copies share it.
class StopFlag {
 public:
  void raise() const { *raised_ = true; }
  /// Ends the calling work if the caller has given up, by an exception that is discarded.
  void check() const;

 private:
  std::shared_ptr<std::atomic<bool>> raised_ = std::make_shared<std::atomic<bool>>(false);
};

/// Runs `work` in a thread of its own, without the interpreter's lock, and waits for it. Handles
/// signals meanwhile, so Ctrl-C raises KeyboardInterrupt at once. Work that does not end soon after
/// is abandoned: it must own everything it uses, except the memory of `keep`, which stays alive
/// until it has ended.
void wait_for(std::function<void()> work, const StopFlag& stop, pybind11::object keep);

/// The same for work that returns a value. `work` is called with the flag, which it should check
/// now and then.
template <typename Work>
auto without_interpreter(Work work, pybind11::object keep = pybind11::none()) {
  using Result = decltype(work(std::declval<const StopFlag&>()));
  const StopFlag stop;
  const auto result = std::make_shared<std::optional<Result>>();
  wait_for([=, work = std::move(work)]() mutable { *result = work(stop); }, stop, std::move(keep));
  return std::move(**result);
}

/// Waits for all abandoned work; called at the end of the interpreter.
void finish_work();

}  // namespace equarx::python
