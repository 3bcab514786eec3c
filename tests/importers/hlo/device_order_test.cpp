#include "importers/hlo/device_order.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo::device_order_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("an array is read in the order of its transposed axes") {
  CHECK(transposed_iota({2, 3}, {0, 1}, 6) == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(transposed_iota({2, 3}, {1, 0}, 6) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(transposed_iota({2, 2, 2}, {2, 0, 1}, 8) == Numbers{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(read_iota("<=[2,3]T(1,0)", 6) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK_FALSE(read_iota("<=[2,3]T(1,0)", 7));
  CHECK_FALSE(read_iota("<=[2,3]T(1)", 6));
}

TEST_CASE("invalid products and orders are detected") {
  CHECK(product_of({}) == 1);
  CHECK(product_of({4096, 4096}) == kMaxDevices);
  CHECK_FALSE(product_of({4096, 4097}));
  CHECK_FALSE(product_of({4, 0}));
  CHECK(is_order({1, 0}, 2));
  CHECK_FALSE(is_order({1, 1}, 2));
  CHECK_FALSE(is_order({0}, 2));
}

TEST_CASE("numbers are split into groups") {
  CHECK(in_runs({0, 3, 1, 2}, 2) == DeviceGroups{{0, 3}, {1, 2}});
  CHECK(in_runs({}, 2).empty());
}

}  // namespace
}  // namespace equarx::hlo::device_order_test
