#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace equarx::sim {

/// How a child process ended.
struct ChildOutcome {
  bool succeeded = false;  ///< its work returned, and `bytes` is what it returned
  std::vector<std::byte> bytes;
  std::string failure;  ///< in words, if it did not succeed: "signal 11 (Segmentation fault)"
};

/// Runs `work` in a forked child, which returns its result through a pipe, and waits for it. Meanwhile it calls
/// `look`, if that is given, several times a second.
/// An exception that leaves `work` ends the child with its message as the failure.
/// @throws std::logic_error if this process has other threads, whose locks the child would inherit.
/// @throws std::system_error if there is no process to be had.
ChildOutcome run_in_child(const std::function<std::vector<std::byte>()>& work,
                          const std::function<void()>& look = {});

/// Memory that a child process shares with its parent. Zeroed.
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
