#include "models/os/unfinished_files.hpp"

#include <array>
#include <atomic>

#include <unistd.h>

namespace equarx::os {
namespace {

/// More at once would be left behind. A handler of signals may read what is atomic without a lock.
constexpr std::size_t kMost = 1024;
using Name = std::atomic<const char*>;
static_assert(Name::is_always_lock_free);

std::array<Name, kMost> names{};

}  // namespace

UnfinishedFile::UnfinishedFile(const char* name) : name_(name) {
  for (const char* none = nullptr; place_ < kMost; ++place_, none = nullptr)
    if (names[place_].compare_exchange_strong(none, name_)) return;
}

UnfinishedFile::~UnfinishedFile() {
  const char* mine = name_;
  if (place_ < kMost) names[place_].compare_exchange_strong(mine, nullptr);
}

void remove_unfinished_files() {
  for (Name& name : names)
    if (const char* const unfinished = name.exchange(nullptr); unfinished != nullptr)
      ::unlink(unfinished);
}

}  // namespace equarx::os
