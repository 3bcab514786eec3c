#include "base/os/unfinished_files.hpp"

#include <array>
#include <atomic>

#include <unistd.h>

namespace equarx::os {
namespace {

/// Registry capacity; files beyond it are not removed. Lock-free atomics are safe in signal
/// handlers.
constexpr std::size_t kCapacity = 1024;
using Name = std::atomic<const char*>;
static_assert(Name::is_always_lock_free);

std::array<Name, kCapacity> names{};

}  // namespace

UnfinishedFile::UnfinishedFile(const char* name) : name_(name) {
  for (const char* none = nullptr; place_ < kCapacity; ++place_, none = nullptr)
    if (names[place_].compare_exchange_strong(none, name_)) return;
}

UnfinishedFile::~UnfinishedFile() {
  const char* mine = name_;
  if (place_ < kCapacity) names[place_].compare_exchange_strong(mine, nullptr);
}

void remove_unfinished_files() {
  for (Name& name : names)
    if (const char* const unfinished = name.exchange(nullptr); unfinished != nullptr)
      ::unlink(unfinished);
}

}  // namespace equarx::os
