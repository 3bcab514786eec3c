#include "base/output/csv.hpp"

#include "tests/catch.hpp"

namespace equarx::output::csv_test {
namespace {

TEST_CASE("CSV quotes special characters") {
  CHECK(csv({{"a", "b"}, {"1,5", "say \"hi\""}, {"", "x\ny"}}) ==
        "a,b\n\"1,5\",\"say \"\"hi\"\"\"\n,\"x\ny\"\n");
}

TEST_CASE("a table without rows is an empty file") { CHECK(csv({}).empty()); }

}  // namespace
}  // namespace equarx::output::csv_test
