#include "experiments/output/table.hpp"

#include "tests/catch.hpp"

namespace equarx::output {
namespace {

TEST_CASE("the first column stands to the left, the others to the right") {
  CHECK(aligned_table({{"name", "time"}, {"a longer name", "1 s"}, {"b", "100 ms"}}) ==
        "  name             time\n"
        "  a longer name     1 s\n"
        "  b              100 ms\n");
}

TEST_CASE("times and sizes are short, in the unit that befits them") {
  CHECK(time_text(363.1e-6) == "363.1 us");
  CHECK(time_text(1.5) == "1.500 s");
  CHECK(size_text(33554432.0) == "32.00 MiB");
}

}  // namespace
}  // namespace equarx::output
