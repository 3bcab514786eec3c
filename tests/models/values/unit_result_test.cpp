#include "models/values/unit_result.hpp"

#include <array>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::unit_result_test {
namespace {

using namespace unit_rings;

TEST_CASE("the first delivery is the result, and later ones must have the same bits") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 1, 0));
  UnitResult result(ring.geometry, nullptr);
  result.start();
  result.deliver(0, {4, 6}, std::array{1.0F, 0.0F});
  CHECK(result.values(0)[4] == 1.0F);
  result.deliver(0, {4, 6}, std::array{1.0F, 0.0F});
  CHECK(result.ranks_identical());
  result.deliver(0, {4, 6}, std::array{1.0F, -0.0F});
  CHECK_FALSE(result.ranks_identical());
  CHECK_FALSE(std::signbit(result.values(0)[5]));
  result.start();
  CHECK(result.ranks_identical());
}

TEST_CASE("a range is cast back once, by the shared scale, and the largest codes are counted") {
  Ring ring(5000);
  ring.program.cast_from = numerics::ElementFormat::bf16;
  ring.geometry.start(unit_of(0, 1, 0));
  const numerics::SharedScale scale(
      {.element = numerics::ElementFormat::int8, .rule = numerics::ScaleRule::global_qsgd}, 127.0F,
      2);
  UnitResult result(ring.geometry, &scale);
  result.start();
  result.deliver(0, {0, 3}, std::array{127.0F, -3.0F, -127.0F});
  result.cast_back({0, 3});
  result.cast_back({0, 3});
  CHECK(result.at_largest() == 2);
  CHECK(result.values(0)[0] == 254.0F);
  CHECK(result.values(0)[1] == -6.0F);
}

}  // namespace
}  // namespace equarx::values::unit_result_test
