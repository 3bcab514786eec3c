// Pipes between processes.
#pragma once

#include <cstddef>
#include <span>

#include "base/os/file_descriptor.hpp"

namespace equarx::os {

/// A unidirectional byte channel within this process or between it and a forked child.
struct Pipe {
  FileDescriptor out;  ///< read end
  FileDescriptor in;   ///< write end
};

/// @throws std::system_error if pipe() fails, e.g. when out of file descriptors.
Pipe open_pipe();

/// Writes all bytes, retrying on EINTR. Returns false and sets errno on failure, e.g. EPIPE if the
/// read end is closed and SIGPIPE is ignored.
bool write_all(const FileDescriptor& file, std::span<const std::byte> bytes);

/// Reads until `bytes` is full or the file ends, retrying on EINTR. Returns the number of bytes
/// read.
/// @throws std::system_error on read errors.
std::size_t read_up_to(const FileDescriptor& file, std::span<std::byte> bytes);

}  // namespace equarx::os
