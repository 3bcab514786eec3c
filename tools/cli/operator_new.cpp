// The program's allocation functions: those of the C library, with huge pages for large blocks.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/os/huge_pages.hpp"

namespace {

/// In bytes. Blocks hold whole huge pages from twice their size on; smaller ones are in the heap of the
/// main thread, mostly.
constexpr std::size_t kLarge = 2 * equarx::os::kHugePage;

/// @throws std::bad_alloc if `block` is null
void* checked(void* block, std::size_t bytes) {
  if (block == nullptr) throw std::bad_alloc();
  if (bytes >= kLarge) equarx::os::use_huge_pages(block, bytes);
  return block;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return checked(std::malloc(bytes == 0 ? 1 : bytes), bytes);
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  const std::size_t whole = (bytes + step - 1) / step * step;  // as aligned_alloc() requires
  if (whole < bytes) throw std::bad_alloc();
  return checked(std::aligned_alloc(step, whole == 0 ? step : whole), bytes);
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
