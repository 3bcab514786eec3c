#include "models/checkpoints/compressed_tensors.hpp"

#include <fmt/format.h>

namespace equarx::checkpoints {
namespace {

using stored::ElementKind;
using tensors::FileType;

constexpr int kByteBits = 8;

/// Codes from 0 as int8, from -128; its own inverse.
Codes with_sign(Codes codes) {
  for (std::uint8_t& code : codes.data) code ^= 0x80U;
  return codes;
}

Scales weight_scales(const PartReader& parts, std::size_t outputs, std::size_t inputs) {
  Scales scales = parts.scales("weight_scale");
  if (scales.values.rows != outputs || inputs % scales.values.columns != 0)
    parts.refuse("weight_scale",
                 fmt::format("has shape ({}, {}), which does not divide a weight of ({}, {})",
                             scales.values.rows, scales.values.columns, outputs, inputs));
  return scales;
}

void check_unordered(const PartReader& parts) {
  if (parts.has("weight_g_idx"))
    parts.refuse("weight_g_idx", "puts inputs out of order; quantize without actorder");
}

/// Outputs and inputs.
std::pair<std::size_t, std::size_t> shape_of(const PartReader& parts, const Words& packed) {
  const std::vector<std::int64_t> shape = parts.numbers("weight_shape");
  if (shape.size() != 2 || shape[0] != static_cast<std::int64_t>(packed.rows) || shape[1] < 1)
    parts.refuse("weight_shape",
                 fmt::format("is not the shape of a weight of {} outputs", packed.rows));
  return {packed.rows, static_cast<std::size_t>(shape[1])};
}

int bits_of(const PartReader& parts, const Words& packed, std::size_t inputs) {
  for (const int bits : {4, kByteBits})
    if (inputs % kByteBits == 0 && packed.columns == word_count(inputs, bits)) return bits;
  parts.refuse("weight_packed",
               fmt::format("has {} columns, which for {} inputs are not 4 or 8 bits",
                           packed.columns, inputs));
}

}  // namespace

stored::Elements e4m3_elements() {
  stored::Elements elements;
  elements.kind = ElementKind::minifloat;
  elements.bits = kByteBits;
  elements.levels = 1U << kByteBits;
  elements.exponent_bits = 4;
  elements.mantissa_bits = 3;
  elements.bias = 7;
  elements.specials = stored::Specials::nan;
  return elements;
}

std::vector<Part> pack_quantized_parts(const Weight& weight) {
  const int bits = weight.elements.bits;
  Matrix<std::int64_t> shape(1, 2);
  shape.data = {static_cast<std::int64_t>(weight.words.rows),
                static_cast<std::int64_t>(weight.inputs)};
  std::vector<Part> parts = {part_of("weight_packed", FileType::int32, weight.words),
                             scales_part("weight_scale", weight.scale_type, weight.scales),
                             part_of("weight_shape", FileType::int64, shape)};
  parts.back().tensor.shape = {2};
  if (!weight.zero_points.empty())
    parts.push_back(part_of("weight_zero_point", FileType::int32,
                            transposed(pack_rows(transposed(weight.zero_points), bits))));
  return parts;
}

Weight read_pack_quantized(const PartReader& parts) {
  check_unordered(parts);
  const Words packed = parts.words("weight_packed");
  const auto [outputs, inputs] = shape_of(parts, packed);
  const int bits = bits_of(parts, packed, inputs);
  const Scales scales = weight_scales(parts, outputs, inputs);
  Weight weight{.elements = integer_elements(bits),
                .scale_type = scales.type,
                .inputs = inputs,
                .words = packed,
                .scales = scales.values,
                .zero_points = {}};
  if (!parts.has("weight_zero_point")) return weight;
  const Words zeros = parts.words("weight_zero_point");
  if (zeros.rows != word_count(outputs, bits) || zeros.columns != scales.values.columns)
    parts.refuse("weight_zero_point",
                 fmt::format("has shape ({}, {}), not ({}, {})", zeros.rows, zeros.columns,
                             word_count(outputs, bits), scales.values.columns));
  weight.zero_points = transposed(unpack_rows(transposed(zeros), bits, outputs));
  return weight;
}

std::vector<Part> naive_quantized_parts(const Weight& weight) {
  const bool integer = weight.elements.kind == ElementKind::integer;
  std::vector<Part> parts = {integer
                                 ? part_of("weight", FileType::int8, with_sign(codes_of(weight)))
                                 : part_of("weight", FileType::fp8_e4m3, codes_of(weight)),
                             scales_part("weight_scale", weight.scale_type, weight.scales)};
  if (!weight.zero_points.empty())
    parts.push_back(part_of("weight_zero_point", FileType::int8, with_sign(weight.zero_points)));
  return parts;
}

Weight read_naive_quantized(const PartReader& parts, ElementKind kind) {
  check_unordered(parts);
  const bool integer = kind == ElementKind::integer;
  const Codes codes = parts.codes("weight", integer ? FileType::int8 : FileType::fp8_e4m3);
  const Scales scales = weight_scales(parts, codes.rows, codes.columns);
  Weight weight{.elements = integer ? integer_elements(kByteBits) : e4m3_elements(),
                .scale_type = scales.type,
                .inputs = codes.columns,
                .words = pack_rows(integer ? with_sign(codes) : codes, kByteBits),
                .scales = scales.values,
                .zero_points = {}};
  if (!integer && std::ranges::any_of(codes.data, [](auto code) { return (code & 0x7f) == 0x7f; }))
    parts.refuse("weight", "has a NaN; save finite values");
  if (!parts.has("weight_zero_point")) return weight;
  weight.zero_points = with_sign(parts.codes("weight_zero_point", FileType::int8));
  if (weight.zero_points.rows != scales.values.rows ||
      weight.zero_points.columns != scales.values.columns)
    parts.refuse("weight_zero_point", "has another shape than weight_scale");
  return weight;
}

}  // namespace equarx::checkpoints
