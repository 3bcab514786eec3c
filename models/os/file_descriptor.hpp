// Files and pipes of the operating system that close themselves.
#pragma once

#include <unistd.h>

namespace equarx::os {

/// An open file, closed at the end of its scope.
class FileDescriptor {
 public:
  /// Takes what open() returned; negative if it failed.
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  /// False, and errno says why, if what was written may not have arrived.
  bool close() {
    const int number = number_;
    number_ = kClosed;
    return number < 0 || ::close(number) == 0;
  }

 private:
  static constexpr int kClosed = -1;
  int number_;
};

}  // namespace equarx::os
