#include "experiments/output/table.hpp"

#include "tests/catch.hpp"

namespace equarx::output::table_test {
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

TEST_CASE("per cent have no exponent where they are large, and as many digits as asked for") {
  CHECK(percent_text(1.234, 2) == "120 %");
  CHECK(percent_text(123.4, 2) == "12000 %");
  CHECK(percent_text(0.999, 2) == "100 %");
  CHECK(percent_text(0.1234, 3) == "12.3 %");
  CHECK(percent_text(0.00123, 2) == "0.12 %");
  CHECK(percent_text(0.0, 2) == "0 %");
  CHECK(percent_text(1e-9, 2) == "1e-07 %");
  CHECK(percent_text(1e-312, 2) == "1e-310 %");  // hardly above 0
}

}  // namespace
}  // namespace equarx::output::table_test
