#include "models/os/pipe.hpp"

#include <array>
#include <cerrno>
#include <system_error>

namespace equarx::os {

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace equarx::os
