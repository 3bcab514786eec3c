#include "base/os/pipe.hpp"

#include <array>
#include <cerrno>
#include <system_error>

namespace equarx::os {
namespace {

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw_errno("pipe");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool write_all(const FileDescriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

std::size_t read_up_to(const FileDescriptor& file, std::span<std::byte> bytes) {
  std::size_t total = 0;
  while (total < bytes.size()) {
    const ssize_t count = read(file.number(), bytes.data() + total, bytes.size() - total);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("read");
    if (count == 0) break;
    total += static_cast<std::size_t>(count);
  }
  return total;
}

}  // namespace equarx::os
