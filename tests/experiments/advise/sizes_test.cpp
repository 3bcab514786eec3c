#include "experiments/advise/sizes.hpp"

#include "tests/catch.hpp"

namespace equarx::advise::sizes_test {
namespace {

TEST_CASE("it pays from the smallest size on from which all gain") {
  CHECK_FALSE(pays_from({}));
  CHECK_FALSE(pays_from({{1, 0.5}, {2, 1.0}}));
  CHECK_FALSE(pays_from({{1, 2.0}, {2, 0.9}}));
  CHECK(pays_from({{1, 1.1}, {2, 1.2}})->bytes == 1);
  CHECK(pays_from({{1, 1.1}, {2, 0.9}, {4, 1.3}, {8, 1.6}})->bytes == 4);
}

}  // namespace
}  // namespace equarx::advise::sizes_test
