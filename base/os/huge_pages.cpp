#include "base/os/huge_pages.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>

namespace equarx::os {
namespace {

bool is_limited(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

void use_huge_pages([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t skipped = (kHugePage - address % kHugePage) % kHugePage;
  if (bytes < skipped + kHugePage) return;
  // An error means that there are no huge pages.
  madvise(static_cast<char*>(start) + skipped, (bytes - skipped) / kHugePage * kHugePage,
          MADV_HUGEPAGE);
#endif
}

void use_huge_pages_for_heap(std::size_t bytes) {
  if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) return;
  // The block comes from the end of the heap and returns there, untouched.
  void* block = std::malloc(bytes);
  if (block != nullptr) use_huge_pages(block, bytes);
  std::free(block);
}

ZeroedPages::ZeroedPages(std::size_t bytes) {
  if (bytes == 0) return;
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  bytes_ = {static_cast<std::byte*>(start), bytes};
}

ZeroedPages::~ZeroedPages() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

void keep_freed_memory([[maybe_unused]] int bytes) {
#ifdef M_TRIM_THRESHOLD
  mallopt(M_TRIM_THRESHOLD, bytes);
  mallopt(M_MMAP_THRESHOLD, bytes);
#endif
}

}  // namespace equarx::os
