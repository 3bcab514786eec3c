#include "models/os/shortage.hpp"

#include <cerrno>
#include <new>
#include <system_error>

namespace equarx::os {
namespace {

constexpr const char* kMemory =
    "there is not enough memory; take a smaller tensor, fewer chips or fewer --jobs, or raise what "
    "this process may have (ulimit -v, or the limit of its container or job)";
constexpr const char* kProcesses =
    "no further process or thread can be started; raise how many there may be (ulimit -u, or the "
    "limit of the container or job), or take fewer --jobs";
constexpr const char* kFiles =
    "too many files are open; raise how many there may be (ulimit -n), or take fewer --jobs";

}  // namespace

std::optional<std::string> shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kMemory;
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  if (of_system == nullptr) return std::nullopt;
  switch (of_system->code().value()) {
    case ENOMEM: return kMemory;
    case EAGAIN: return kProcesses;
    case EMFILE:
    case ENFILE: return kFiles;
    default: return std::nullopt;
  }
}

}  // namespace equarx::os
