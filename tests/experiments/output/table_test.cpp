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

}  // namespace
}  // namespace equarx::output
