#include "models/checkpoints/layout.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/checkpoints/compressed_tensors.hpp"
#include "models/checkpoints/fp4.hpp"

namespace equarx::checkpoints {
namespace {

using numerics::ScaleFormat;
using stored::ElementKind;
using stored::StoredFormat;
using stored::ZeroPoint;

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

void require_integers(const StoredFormat& format, std::initializer_list<int> widths) {
  const bool fits = format.elements.kind == ElementKind::integer &&
                    std::ranges::find(widths, format.elements.bits) != widths.end();
  require(fits, fmt::format("needs integers of {} bits; choose another layout or format",
                            fmt::join(widths, ", ")));
}

void require_elements(const StoredFormat& format, const stored::Elements& elements,
                      const char* name) {
  require(format.elements == elements,
          fmt::format("needs {} elements; choose another layout or format", name));
}

void require_scales(const StoredFormat& format, std::initializer_list<ScaleFormat> types) {
  std::vector<std::string_view> names;
  for (const ScaleFormat type : types) names.push_back(numerics::name(type));
  require(std::ranges::find(types, format.scale.type) != types.end(),
          fmt::format("needs scales of type {}, not {}", fmt::join(names, ", "),
                      numerics::name(format.scale.type)));
}

void require_multiple(std::size_t count, std::size_t of, const char* what) {
  require(count % of == 0,
          fmt::format("needs a multiple of {} {}, not {}; pad the tensor", of, what, count));
}

void require_groups(const StoredFormat& format, std::size_t length) {
  require(format.groups.length == length,
          fmt::format("needs groups of {}, not {}", length, format.groups.length));
}

/// Properties that no layout has room for.
void check_common(const StoredFormat& format) {
  require(format.groups.along == stored::Along::row,
          "needs groups along rows; set groups.along to \"row\"");
  require(format.apart == stored::Apart{}, "has no room for elements apart; remove apart");
  require(format.before == stored::Before{}, "has no room for transforms; remove before");
  require(format.widths == stored::Widths{}, "has codes of equal bits; remove widths");
  require(format.scale.zero_point != ZeroPoint::real,
          "has no room for zero points that are no codes; set scale.zero_point to \"rounded\"");
}

void check_fp4(const StoredFormat& format, std::size_t group, ScaleFormat type, bool of_tensor) {
  require_elements(format, e2m1_elements(), "e2m1");
  require_scales(format, {type});
  require_groups(format, group);
  require(format.scale.of_tensor == of_tensor, "needs a scale of the tensor, as in NVFP4");
}

}  // namespace

std::optional<Layout> layout_named(std::string_view name) {
  const auto found = std::ranges::find(kLayoutNames, name);
  if (found == kLayoutNames.end()) return std::nullopt;
  return static_cast<Layout>(found - kLayoutNames.begin());
}

std::string_view name(Layout layout) { return kLayoutNames.at(static_cast<std::size_t>(layout)); }

void check_layout(Layout layout, const StoredFormat& format, const stored::Shape& shape) {
  constexpr std::size_t kWord = 32;
  constexpr std::size_t kWordCodes = 8;
  check_common(format);
  switch (layout) {
    case Layout::gptq:
    case Layout::gptq_v2:
      require_integers(format, {2, 3, 4, 8});
      require_scales(format, {ScaleFormat::fp16, ScaleFormat::bf16});
      require_multiple(shape.columns, kWord, "columns");
      return require_multiple(shape.rows, kWord, "rows");
    case Layout::awq:
      require_integers(format, {4});
      require_scales(format, {ScaleFormat::fp16});
      return require_multiple(shape.rows, kWordCodes, "rows");
    case Layout::pack_quantized:
      require_integers(format, {4, 8});
      require_scales(format, {ScaleFormat::fp16, ScaleFormat::bf16, ScaleFormat::fp32});
      return require_multiple(shape.columns, kWordCodes, "columns");
    case Layout::int_quantized:
      require_integers(format, {8});
      return require_scales(format, {ScaleFormat::fp16, ScaleFormat::bf16, ScaleFormat::fp32});
    case Layout::float_quantized:
      require_elements(format, e4m3_elements(), "e4m3 (\"special\": \"nan\")");
      return require_scales(format, {ScaleFormat::fp16, ScaleFormat::bf16, ScaleFormat::fp32});
    case Layout::mxfp4_pack_quantized: return check_fp4(format, 32, ScaleFormat::e8m0, false);
    case Layout::nvfp4_pack_quantized:
      throw std::invalid_argument(
          "nvfp4-pack-quantized, whose scales are quotients, can only be read; use modelopt-nvfp4");
    case Layout::modelopt_nvfp4: return check_fp4(format, 16, ScaleFormat::e4m3, true);
  }
}

}  // namespace equarx::checkpoints
