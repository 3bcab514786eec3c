#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace equarx::sim {

/// Outcome of a child process.
struct ChildOutcome {
  bool succeeded = false;  ///< the work returned normally; `bytes` is its result
  std::vector<std::byte> bytes;
  std::string failure;  ///< description of the failure, if any: "signal 11 (Segmentation fault)"
};

/// Runs `work` in a forked child, which returns its result through a pipe, and waits for it.
/// Meanwhile calls `on_poll`, if set, several times per second. An exception thrown by `work`
/// terminates the child with its message as the failure.
/// @throws std::logic_error if this process has other threads, whose locks the child would inherit.
/// @throws std::system_error if the process cannot be created.
ChildOutcome run_in_child(const std::function<std::vector<std::byte>()>& work,
                          const std::function<void()>& on_poll = {});

/// Zero-initialized memory shared by a child process and its parent.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace equarx::sim
