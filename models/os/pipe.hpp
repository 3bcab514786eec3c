#pragma once

#include "models/os/file_descriptor.hpp"

namespace equarx::os {

/// Bytes go in at one end and come out of the other, in this process or in one that is forked from it.
struct Pipe {
  FileDescriptor out;  ///< to read from
  FileDescriptor in;   ///< to write to
};

/// @throws std::system_error if the process has no two file descriptors left.
Pipe open_pipe();

}  // namespace equarx::os
