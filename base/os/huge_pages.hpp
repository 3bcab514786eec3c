// Memory of the system for large buffers. In huge pages, a page fault is for 2 MiB, not for 4 KiB.
#pragma once

#include <cstddef>
#include <span>

namespace equarx::os {

/// Size of a huge page in bytes, on x86-64 and arm64 with pages of 4 KiB.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Asks the system to back the whole huge pages among `bytes` at `start` with transparent huge pages
/// (`madvise` in /sys/kernel/mm/transparent_hugepage/enabled). Contents stay; without effect where the
/// system has none.
void use_huge_pages(void* start, std::size_t bytes);

/// Backs the heap of the main thread with huge pages, up to `bytes` of growth: small blocks, too. Keeps
/// `bytes` of address space, and memory only as it is used. Without effect under a limit of address
/// space or data (`ulimit -v`, `ulimit -d`). `bytes`: less than given to keep_freed_memory().
void use_huge_pages_for_heap(std::size_t bytes);

/// Zeroed memory of its own from the system: resident only where it has been written, in small pages.
class ZeroedPages {
 public:
  /// None.
  ZeroedPages() = default;
  /// @throws std::bad_alloc if there is not enough
  explicit ZeroedPages(std::size_t bytes);
  ~ZeroedPages();
  ZeroedPages(const ZeroedPages&) = delete;
  ZeroedPages& operator=(const ZeroedPages&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// Keeps up to `bytes` of freed memory in the process, instead of returning large buffers to the system
/// at once.
void keep_freed_memory(int bytes);

}  // namespace equarx::os
