#include "base/os/thread_tokens.hpp"

#include <new>

#include <sys/mman.h>

namespace equarx::os {
namespace {

using Count = std::atomic<int>;
static_assert(Count::is_always_lock_free);  // required between processes

Count* make_shared_count() {
  void* const memory =
      mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return new (memory) Count(0);
}

void unmap(Count* count) { munmap(count, sizeof(Count)); }

ThreadTokens* of_process = nullptr;

}  // namespace

ThreadTokens::ThreadTokens() : free_(make_shared_count(), unmap) {}

bool ThreadTokens::take() {
  int free = *free_;
  while (free > 0)
    if (free_->compare_exchange_weak(free, free - 1)) return true;
  return false;
}

ThreadTokens* thread_tokens() { return of_process; }

LimitedThreads::LimitedThreads(ThreadTokens& tokens) { of_process = &tokens; }

LimitedThreads::~LimitedThreads() { of_process = nullptr; }

}  // namespace equarx::os
