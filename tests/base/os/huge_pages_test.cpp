#include "base/os/huge_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::huge_pages_test {
namespace {

using os::kHugePage;

bool has_huge_pages() {
  return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled");
}

/// True if the mapping at `address` is marked for huge pages: "hg" among its VmFlags.
bool is_marked(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> end && dash == '-')
      here = first <= wanted && wanted < end;
    else if (here && line.starts_with("VmFlags:"))
      return line.find(" hg") != std::string::npos;
  }
  return false;
}

/// The first whole huge page of pages that nothing has marked.
char* first_huge_page(const os::ZeroedPages& pages) {
  const auto address = reinterpret_cast<std::uintptr_t>(pages.bytes().data());
  const std::uintptr_t skipped = (kHugePage - address % kHugePage) % kHugePage;
  return reinterpret_cast<char*>(pages.bytes().data() + skipped);
}

}  // namespace

TEST_CASE("whole huge pages of a buffer are marked, and keep their contents") {
  if (!has_huge_pages()) return;
  const os::ZeroedPages pages(8 * kHugePage);
  char* page = first_huge_page(pages);
  page[1] = 'x';
  os::use_huge_pages(page + 1, 3 * kHugePage);
  CHECK(page[1] == 'x');
  CHECK_FALSE(is_marked(page));  // begins before the buffer
  CHECK(is_marked(page + kHugePage));
  CHECK(is_marked(page + 2 * kHugePage));
  CHECK_FALSE(is_marked(page + 3 * kHugePage));  // ends behind it
}

TEST_CASE("buffers without a whole huge page are left alone") {
  if (!has_huge_pages()) return;
  const os::ZeroedPages pages(4 * kHugePage);
  char* page = first_huge_page(pages);
  os::use_huge_pages(page, kHugePage - 1);
  os::use_huge_pages(page + 1, kHugePage + 1);
  os::use_huge_pages(page, 0);
  os::use_huge_pages(nullptr, 0);
  CHECK_FALSE(is_marked(page));
  CHECK_FALSE(is_marked(page + kHugePage));
}

TEST_CASE("memory of small blocks is in huge pages once the heap is prepared") {
  if (!has_huge_pages()) return;
  os::keep_freed_memory(64 << 20);
  os::use_huge_pages_for_heap(32 << 20);
  void* block = std::malloc(16 << 20);
  REQUIRE(block != nullptr);
  CHECK(is_marked(static_cast<char*>(block) + (8 << 20)));
  std::free(block);
}

TEST_CASE("zeroed pages are resident where they have been written") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const os::ZeroedPages pages(1024 * page);
  REQUIRE(pages.bytes().size() == 1024 * page);
  pages.bytes()[700 * page] = std::byte{1};
  std::vector<unsigned char> resident(1024);
  REQUIRE(mincore(pages.bytes().data(), pages.bytes().size(), resident.data()) == 0);
  CHECK((resident[700] & 1) != 0);
  CHECK((resident[0] & 1) == 0);
  CHECK(pages.bytes().front() == std::byte{0});
  CHECK(pages.bytes().back() == std::byte{0});
  CHECK(os::ZeroedPages(0).bytes().empty());
}

TEST_CASE("more memory than there are addresses cannot be allocated") {
  CHECK_THROWS_AS(os::ZeroedPages(std::size_t{1} << 62), std::bad_alloc);
}

}  // namespace equarx::huge_pages_test
