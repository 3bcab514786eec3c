// Formats and values of tests of layouts.
#pragma once

#include <string>
#include <vector>

#include "models/checkpoints/layout.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::checkpoints::testing {

using numerics::ScaleFormat;

/// A format that a layout can store.
inline stored::StoredFormat format_for(Layout layout, bool symmetric, int bits = 4) {
  namespace st = stored::testing;
  const stored::Groups groups{stored::Along::row, 32};
  stored::Scale scale{.type = ScaleFormat::fp16};
  if (!symmetric) {
    scale.rule = stored::RangeRule::min_max;
    scale.zero_point = stored::ZeroPoint::rounded;
  }
  switch (layout) {
    case Layout::mxfp4_pack_quantized:
      return st::e2m1_format(
          groups, {.rule = stored::RangeRule::power_of_two_down, .type = ScaleFormat::e8m0});
    case Layout::modelopt_nvfp4:
      return st::e2m1_format({stored::Along::row, 16},
                             {.type = ScaleFormat::e4m3, .of_tensor = true});
    case Layout::float_quantized: {
      stored::StoredFormat format = st::e2m1_format(groups, {.type = ScaleFormat::bf16});
      format.elements.bits = 8;
      format.elements.levels = 256;
      format.elements.exponent_bits = 4;
      format.elements.mantissa_bits = 3;
      format.elements.bias = 7;
      format.elements.specials = stored::Specials::nan;
      return format;
    }
    case Layout::int_quantized: return st::integer_format(8, groups, scale);
    default: return st::integer_format(bits, groups, scale);
  }
}

}  // namespace equarx::checkpoints::testing
