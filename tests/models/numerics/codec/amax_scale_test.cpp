#include "models/numerics/codec/amax_scale.hpp"

#include "tests/catch.hpp"

namespace equarx::numerics::amax_scale_test {
namespace {

void refused(const BlockFormat& format, const char* part) {
  CHECK_THROWS_WITH(make_amax_scale(format), ContainsSubstring(part));
}

TEST_CASE("an element needs scales, or excludes them, by its range") {
  refused({.element = ElementFormat::int4}, "int4 without scales");
  refused({.element = ElementFormat::int6}, "int6 without scales");
  refused({.element = ElementFormat::mxint8}, "mxint8 without scales");
  refused({.element = ElementFormat::fp16, .scaled = true}, "fp16 with scales");
  refused({.element = ElementFormat::bf16, .scaled = true}, "bf16 with scales");
  refused({.element = ElementFormat::fp32, .scaled = true}, "fp32 with scales");
  refused({.element = ElementFormat::exp8}, "exp8 requires Global-QSGD's scale");
}

TEST_CASE("only int8 and FP8 are rounded stochastically") {
  BlockFormat format{
      .element = ElementFormat::int4, .scaled = true, .rounding = Rounding::stochastic};
  refused(format, "int4 with stochastic rounding");
  for (const ElementFormat element : {ElementFormat::int8, ElementFormat::fp8_e5m2fnuz}) {
    format.element = element;
    CHECK_NOTHROW(make_amax_scale(format));
  }
}

TEST_CASE("only E8M0 scales are rounded up or to even, and to even only with a mantissa") {
  BlockFormat format{.element = ElementFormat::fp8_e4m3, .scaled = true};
  for (const ScaleRounding rounding : {ScaleRounding::up, ScaleRounding::even}) {
    format.scale_rounding = rounding;
    for (const ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16, ScaleFormat::e4m3}) {
      format.scale = scale;
      refused(format, "only if they are e8m0");
    }
    format.scale = ScaleFormat::e8m0;
    CHECK_NOTHROW(make_amax_scale(format));
    refused({.element = ElementFormat::fp8_e4m3,
             .scale = ScaleFormat::e8m0,
             .scale_rounding = rounding},
            "only if they are e8m0");
  }
  for (const ElementFormat element :
       {ElementFormat::int8, ElementFormat::int6, ElementFormat::int4, ElementFormat::mxint8}) {
    format.element = element;
    format.scale_rounding = ScaleRounding::even;
    refused(format, "has no mantissa to round amax to");
    format.scale_rounding = ScaleRounding::up;
    CHECK_NOTHROW(make_amax_scale(format));
  }
}

}  // namespace
}  // namespace equarx::numerics::amax_scale_test
