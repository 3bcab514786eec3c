// Files and pipes of the operating system that close themselves.
#pragma once

#include <utility>

#include <unistd.h>

namespace equarx::os {

/// An open file, closed at the end of its scope.
class FileDescriptor {
 public:
  /// None.
  FileDescriptor() = default;
  /// Takes what open() returned; negative if it failed.
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, kClosed)) {}
  /// Closes what it had.
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    if (this != &other) other.close();
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  /// False, and errno says why, if what was written may not have arrived.
  bool close() {
    const int number = std::exchange(number_, kClosed);
    return number < 0 || ::close(number) == 0;
  }

 private:
  static constexpr int kClosed = -1;
  int number_ = kClosed;
};

}  // namespace equarx::os
