#include "models/formats/float_type.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

namespace equarx::numerics::float_type_test {

TEST_CASE("parameters of IEEE types follow from their widths") {
  for (const auto& [type, exponent_bits, fraction_bits] :
       {std::tuple{ElementFormat::fp32, 8, 23}, std::tuple{ElementFormat::bf16, 8, 7},
        std::tuple{ElementFormat::fp16, 5, 10}, std::tuple{ElementFormat::fp8_e5m2, 5, 2}}) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const FloatType known = float_type(type).value();
    CHECK(known.fraction_bits == fraction_bits);
    CHECK(known.smallest_exponent == 1 - bias);
    CHECK(known.largest ==
          static_cast<float>((2.0 - std::ldexp(1.0, -fraction_bits)) * std::ldexp(1.0, bias)));
  }
  CHECK(float_type(ElementFormat::fp32)->largest == std::numeric_limits<float>::max());
}

TEST_CASE("FP8 types have the largest values of their specifications") {
  CHECK(float_type(ElementFormat::fp8_e4m3)->largest == 448.0F);
  CHECK(float_type(ElementFormat::fp8_e4m3fnuz)->largest == 240.0F);
  CHECK(float_type(ElementFormat::fp8_e5m2fnuz)->largest == 57344.0F);
  CHECK_FALSE(float_type(ElementFormat::int8));
}

}  // namespace equarx::numerics::float_type_test
