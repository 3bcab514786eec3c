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

TEST_CASE("correlations have names on both sides") {
  CHECK(correlation_table({"a", "bee"}, {1.0, -0.25, -0.25, 1.0}) ==
        "  correlation       a     bee\n"
        "  a             1.000  -0.250\n"
        "  bee          -0.250   1.000\n");
}

}  // namespace
}  // namespace equarx::output
