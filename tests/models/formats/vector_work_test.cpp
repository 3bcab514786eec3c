#include "models/formats/vector_work.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::vector_work_test {

using namespace equarx::numerics;

TEST_CASE("narrower formats of the same kind never cost fewer vector operations") {
  using enum ElementFormat;
  using OfElement = double (*)(ElementFormat);
  for (const OfElement operations : {OfElement{decode_operations}, OfElement{encode_operations}}) {
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

TEST_CASE("own codes cost what their user states, and bits too") {
  const BlockFormat own{.element = ElementFormat::fp32,
                        .scaled = true,
                        .layout = ScaleLayout::contiguous,
                        .block = 128,
                        .rule = ScaleRule::own,
                        .own = {8.0625, 7.0, 3.0}};
  CHECK(encode_operations(own) == 7.0);
  CHECK(decode_operations(own) == 3.0);
  CHECK(decode_operations(BlockFormat{.element = ElementFormat::int8}) ==
        decode_operations(ElementFormat::int8));
  CHECK(element_bytes(own) == 8.0625 / 8.0);
  CHECK(element_bytes(BlockFormat{.element = ElementFormat::int4}) == 0.5);
  CHECK(payload_bytes(own, 128) == 129);
  CHECK(payload_bytes(own, 1) == 2);  // whole bytes
  CHECK_FALSE(sends_scales(own));
  CHECK(scale_count(own, 1024) == 0);
}

TEST_CASE("invalid formats have no cost") {
  REQUIRE_THROWS_AS(decode_operations(static_cast<ElementFormat>(99)), std::logic_error);
  REQUIRE_THROWS_AS(encode_operations(static_cast<ElementFormat>(99)), std::logic_error);
}

}  // namespace equarx::vector_work_test
