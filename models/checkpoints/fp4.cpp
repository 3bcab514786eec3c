#include "models/checkpoints/fp4.hpp"

#include <fmt/format.h>

namespace equarx::checkpoints {
namespace {

using numerics::ScaleFormat;
using tensors::FileType;

Codes packed_pairs(const Codes& codes) {
  Codes pairs(codes.rows, codes.columns / 2);
  for (std::size_t i = 0; i < pairs.data.size(); ++i)
    pairs.data[i] = static_cast<std::uint8_t>(codes.data[2 * i] | codes.data[2 * i + 1] << 4);
  return pairs;
}

Codes unpacked_pairs(const Codes& pairs) {
  Codes codes(pairs.rows, 2 * pairs.columns);
  for (std::size_t i = 0; i < pairs.data.size(); ++i) {
    codes.data[2 * i] = pairs.data[i] & 0xfU;
    codes.data[2 * i + 1] = pairs.data[i] >> 4;
  }
  return codes;
}

Weight read_pairs(const PartReader& parts, const char* name, ScaleFormat type) {
  Scales scales = parts.scale_codes("weight_scale", type);
  const Codes codes = unpacked_pairs(parts.codes(name, FileType::uint8));
  if (scales.values.rows != codes.rows || codes.columns % scales.values.columns != 0)
    parts.refuse("weight_scale",
                 fmt::format("has shape ({}, {}), which does not divide a weight of ({}, {})",
                             scales.values.rows, scales.values.columns, codes.rows, codes.columns));
  return {.elements = e2m1_elements(),
          .scale_type = type,
          .inputs = codes.columns,
          .words = pack_rows(codes, 4),
          .scales = std::move(scales.values),
          .zero_points = {}};
}

}  // namespace

stored::Elements e2m1_elements() {
  stored::Elements elements;
  elements.kind = stored::ElementKind::minifloat;
  elements.levels = 16;
  return elements;
}

std::vector<Part> mxfp4_parts(const Weight& weight) {
  return {part_of("weight_packed", FileType::uint8, packed_pairs(codes_of(weight))),
          scales_part("weight_scale", weight.scale_type, weight.scales)};
}

Weight read_mxfp4(const PartReader& parts) {
  return read_pairs(parts, "weight_packed", ScaleFormat::e8m0);
}

std::vector<Part> nvfp4_parts(const Weight& weight) {
  Matrix<float> unit(1, 1);
  unit.data = {weight.tensor_scale};
  Matrix<float> scales = weight.scales;
  for (float& scale : scales.data) scale /= weight.tensor_scale;
  std::vector<Part> parts = {part_of("weight", FileType::uint8, packed_pairs(codes_of(weight))),
                             scales_part("weight_scale", weight.scale_type, scales),
                             part_of("weight_scale_2", FileType::fp32, unit)};
  parts.back().tensor.shape = {1};
  return parts;
}

Weight read_nvfp4(const PartReader& parts) {
  Weight weight = read_pairs(parts, "weight", ScaleFormat::e4m3);
  weight.tensor_scale = parts.number("weight_scale_2");
  for (float& scale : weight.scales.data) scale *= weight.tensor_scale;
  return weight;
}

Weight read_nvfp4_pack_quantized(const PartReader& parts) {
  Weight weight = read_pairs(parts, "weight_packed", ScaleFormat::e4m3);
  const float divisor = parts.number("weight_global_scale");
  weight.tensor_scale = 1.0F / divisor;
  for (float& scale : weight.scales.data) scale /= divisor;
  return weight;
}

}  // namespace equarx::checkpoints
