#include "experiments/process/host_memory.hpp"

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::process {
namespace {

TEST_CASE("some memory is available, and not more than there is") {
  const double installed =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  constexpr double kLeast = 1 << 20;
  CHECK(available_memory_bytes() > kLeast);
  CHECK(available_memory_bytes() <= installed);
}

}  // namespace
}  // namespace equarx::process
