#include "base/os/shortage.hpp"

#include <cerrno>
#include <new>
#include <system_error>

namespace equarx::os {
namespace {

constexpr const char* kMemory =
    "out of memory; use a smaller tensor, fewer chips or fewer --jobs, or raise the memory limit "
    "of this process (ulimit -v, or the limit of its container or job)";
constexpr const char* kProcesses =
    "cannot start another process or thread; raise the limit (ulimit -u, or the limit of the "
    "container or job), or use fewer --jobs";
constexpr const char* kFiles =
    "too many open files; raise the limit (ulimit -n), or use fewer --jobs";

}  // namespace

std::optional<std::string> shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kMemory;
  const auto* const system_error = dynamic_cast<const std::system_error*>(&error);
  if (system_error == nullptr) return std::nullopt;
  switch (system_error->code().value()) {
    case ENOMEM: return kMemory;
    case EAGAIN: return kProcesses;
    case EMFILE:
    case ENFILE: return kFiles;
    default: return std::nullopt;
  }
}

}  // namespace equarx::os
