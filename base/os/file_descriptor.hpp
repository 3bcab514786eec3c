// RAII wrapper of a file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace equarx::os {

/// Owns a file descriptor and closes it on destruction.
class FileDescriptor {
 public:
  /// Owns no descriptor.
  FileDescriptor() = default;
  /// Takes ownership of the result of open(); negative if that failed.
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, kClosed)) {}
  /// Closes the descriptor owned before.
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

  /// Closes the descriptor. Returns false and sets errno if data written earlier may be lost.
  bool close() {
    const int number = std::exchange(number_, kClosed);
    return number < 0 || ::close(number) == 0;
  }

 private:
  static constexpr int kClosed = -1;
  int number_ = kClosed;
};

}  // namespace equarx::os
