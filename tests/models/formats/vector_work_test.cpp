#include "models/formats/vector_work.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::vector_work_test {

using namespace equarx::numerics;

TEST_CASE("narrower formats of the same kind never cost fewer vector operations") {
  using enum ElementFormat;
  for (const auto operations : {decode_operations, encode_operations}) {
    CHECK(operations(fp32) == 0.0);
    CHECK(operations(bf16) > operations(fp32));
    CHECK(operations(int8) > operations(bf16));
    CHECK(operations(int6) > operations(int8));
    CHECK(operations(int4) >= operations(int6));
    CHECK(operations(mxint8) == operations(int8));
    CHECK(operations(fp8_e4m3) == operations(fp8_e5m2));
    CHECK(operations(fp8_e4m3fnuz) == operations(fp8_e4m3));
    CHECK(operations(fp8_e5m2fnuz) == operations(fp8_e5m2));
    CHECK(operations(fp4_e2m1) > operations(fp8_e4m3));
    CHECK(operations(fp6_e2m3) == operations(fp6_e3m2));
    CHECK(operations(exp8) > operations(fp8_e4m3));
  }
}

TEST_CASE("invalid formats have no cost") {
  REQUIRE_THROWS_AS(decode_operations(static_cast<ElementFormat>(99)), std::logic_error);
  REQUIRE_THROWS_AS(encode_operations(static_cast<ElementFormat>(99)), std::logic_error);
}

}  // namespace equarx::vector_work_test
