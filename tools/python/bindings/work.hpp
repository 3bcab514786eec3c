// Work of the program, done for Python without holding the interpreter.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <pybind11/pybind11.h>

namespace equarx::python {

/// Whether the caller has given up: Ctrl-C. Copies share it.
class StopFlag {
 public:
  void raise() const { *raised_ = true; }
  /// Ends the work that calls it if the caller has given up, by an exception that nobody sees.
  void check() const;

 private:
  std::shared_ptr<std::atomic<bool>> raised_ = std::make_shared<std::atomic<bool>>(false);
};

/// Runs `work` in a thread of its own, without the interpreter's lock, and waits for it. Signals are handled meanwhile,
/// so Ctrl-C is a KeyboardInterrupt at once. Work that does not end soon then is left behind: it must own all that it
/// uses, but for the memory of `keep`, which stays until it has ended.
void wait_for(std::function<void()> work, const StopFlag& stop, pybind11::object keep);

/// The same for work that returns something. `work` is called with the flag that it should check now and then.
template <typename Work>
auto without_interpreter(Work work, pybind11::object keep = pybind11::none()) {
  using Result = decltype(work(std::declval<const StopFlag&>()));
  const StopFlag stop;
  const auto result = std::make_shared<std::optional<Result>>();
  wait_for([=, work = std::move(work)]() mutable { *result = work(stop); }, stop, std::move(keep));
  return std::move(**result);
}

/// Waits for all work that was left behind; for the end of the interpreter.
void finish_work();

}  // namespace equarx::python
