#include "experiments/advise/sizes.hpp"

#include "tests/catch.hpp"

namespace equarx::advise::sizes_test {
namespace {

TEST_CASE("the break-even size is the smallest from which all sizes speed up") {
  CHECK_FALSE(break_even_size({}));
  CHECK_FALSE(break_even_size({{1, 0.5}, {2, 1.0}}));
  CHECK_FALSE(break_even_size({{1, 2.0}, {2, 0.9}}));
  CHECK(break_even_size({{1, 1.1}, {2, 1.2}})->bytes == 1);
  CHECK(break_even_size({{1, 1.1}, {2, 0.9}, {4, 1.3}, {8, 1.6}})->bytes == 4);
}

}  // namespace
}  // namespace equarx::advise::sizes_test
