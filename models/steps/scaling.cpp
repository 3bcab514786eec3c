#include "models/steps/scaling.hpp"

#include <stdexcept>

namespace equarx::steps {
namespace {

using gemm::ScalePlacement;
using gemm::Unit;
using hardware::MatrixType;
using numerics::ScaleFormat;
using stored::Along;
using stored::ElementKind;
using stored::Elements;
using stored::Groups;
using stored::RangeRule;
using stored::Scale;

Elements codes_of(MatrixType type) {
  if (type == MatrixType::int8) return {.bits = 8, .levels = 255};
  if (type == MatrixType::fp4) return {.kind = ElementKind::minifloat};
  return {.kind = ElementKind::minifloat,
          .bits = 8,
          .exponent_bits = 4,
          .mantissa_bits = 3,
          .bias = 7,
          .specials = stored::Specials::nan};
}

Unit unit_of(MatrixType type) {
  switch (type) {
    case MatrixType::int8: return Unit::int8;
    case MatrixType::fp8: return Unit::fp8;
    case MatrixType::fp4: return Unit::fp4;
    case MatrixType::bf16:
    case MatrixType::fp32:
    case MatrixType::int1:
    case MatrixType::table: break;
  }
  throw std::invalid_argument("operands of this type are not cast");
}

/// Groups of an operand that share a scale, along the elements summed for one result.
Groups groups_of(Scaling scaling, bool of_weights) {
  constexpr std::size_t kBlock = 128;  // DeepSeek-V3, arXiv 2412.19437, section 3.3.2
  constexpr std::size_t kMxBlock = 32;
  constexpr std::size_t kNvBlock = 16;
  switch (scaling) {
    case Scaling::delayed:
    case Scaling::current: break;
    case Scaling::rows: return {Along::row};
    case Scaling::blocks:
      return of_weights ? Groups{Along::block, kBlock, kBlock} : Groups{Along::row, kBlock};
    case Scaling::mx: return {Along::row, kMxBlock};
    case Scaling::nv: return {Along::row, kNvBlock};
  }
  return {Along::tensor};
}

Scale scale_of(Scaling scaling) {
  switch (scaling) {
    case Scaling::delayed: return {.rule = RangeRule::given};
    case Scaling::current:
    case Scaling::rows:
    case Scaling::blocks: break;
    case Scaling::mx: return {.rule = RangeRule::power_of_two_down, .type = ScaleFormat::e8m0};
    case Scaling::nv: return {.type = ScaleFormat::e4m3, .of_tensor = true};
  }
  return {};
}

}  // namespace

gemm::Scheme scheme_of(MatrixType type, Scaling scaling) {
  const auto operand = [&](bool of_weights) {
    return stored::StoredFormat{.elements = codes_of(type),
                                .groups = groups_of(scaling, of_weights),
                                .scale = scale_of(scaling)};
  };
  const bool whole =
      scaling == Scaling::delayed || scaling == Scaling::current || scaling == Scaling::rows;
  return {.weights = operand(true),
          .activations = operand(false),
          .unit = unit_of(type),
          .scales = whole ? ScalePlacement::end : ScalePlacement::by_group};
}

bool serves_both_axes(const stored::StoredFormat& format) {
  const Groups& groups = format.groups;
  return (groups.along == Along::tensor && groups.length == 0) ||
         (groups.along == Along::block && groups.rows == groups.length);
}

double bytes_per_element(const stored::StoredFormat& format) {
  constexpr double kBitsPerByte = 8.0;
  const double codes = format.elements.bits / kBitsPerByte;
  if (format.groups.length == 0) return codes;
  return codes + static_cast<double>(numerics::scale_bytes(format.scale.type)) /
                     static_cast<double>(format.groups.length * format.groups.rows);
}

}  // namespace equarx::steps
