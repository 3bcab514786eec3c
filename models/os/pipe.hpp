// Bytes between processes.
#pragma once

#include <cstddef>
#include <span>

#include "models/os/file_descriptor.hpp"

namespace equarx::os {

/// Bytes go in at one end and come out of the other, in this process or in one that is forked from it.
struct Pipe {
  FileDescriptor out;  ///< to read from
  FileDescriptor in;   ///< to write to
};

/// @throws std::system_error if the process has no two file descriptors left.
Pipe open_pipe();

/// Writes all bytes, however often signals interrupt it. False, and errno says why, if not all could be written:
/// as when there is nobody at a pipe's other end, and SIGPIPE does not end the process.
bool write_all(const FileDescriptor& file, std::span<const std::byte> bytes);

/// Reads until `bytes` is full or the file ends, however often signals interrupt it. Returns how many were read.
/// @throws std::system_error if the file cannot be read.
std::size_t read_up_to(const FileDescriptor& file, std::span<std::byte> bytes);

}  // namespace equarx::os
