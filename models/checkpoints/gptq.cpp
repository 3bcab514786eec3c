#include "models/checkpoints/gptq.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::checkpoints {
namespace {

using tensors::FileType;

constexpr int kAwqBits = 4;
constexpr std::array<std::size_t, 8> kAwqOrder = {0, 2, 4, 6, 1, 3, 5, 7};

Codes zero_points_of(const Weight& weight) {
  if (!weight.zero_points.empty()) return weight.zero_points;
  Codes zeros(weight.scales.rows, weight.scales.columns);
  std::ranges::fill(zeros.data, middle_code(weight.elements.bits));
  return zeros;
}

void subtract_one(Codes& zeros) {
  for (std::size_t i = 0; i < zeros.data.size(); ++i) {
    if (zeros.data[i] == 0)
      throw std::invalid_argument(fmt::format(
          "group {} of row {} has the zero point 0, which this layout stores as -1 and engines "
          "read differently; use gptq-v2",
          i % zeros.columns, i / zeros.columns));
    zeros.data[i] -= 1;
  }
}

void add_one(const PartReader& parts, Codes& zeros, int bits) {
  for (std::uint8_t& zero : zeros.data) {
    if (zero == (1 << bits) - 1)
      parts.refuse("qzeros",
                   "has a zero point of -1, which engines read differently; save it as "
                   "gptq-v2");
    zero += 1;
  }
}

/// Group of each input.
Part group_index(const Weight& weight) {
  const std::size_t length = weight.inputs / weight.scales.columns;
  Words index(1, weight.inputs);
  for (std::size_t i = 0; i < index.columns; ++i)
    index.data[i] = static_cast<std::int32_t>(i / length);
  Part part = part_of("g_idx", FileType::int32, index);
  part.tensor.shape = {index.columns};
  return part;
}

void check_order(const PartReader& parts, std::size_t inputs, std::size_t groups) {
  const std::vector<std::int32_t> index = parts.list("g_idx");
  if (index.size() != inputs)
    parts.refuse("g_idx", fmt::format("has {} elements, not one for each of {} inputs",
                                      index.size(), inputs));
  for (std::size_t i = 0; i < inputs; ++i)
    if (index[i] != static_cast<std::int32_t>(i / (inputs / groups)))
      parts.refuse("g_idx", fmt::format("puts input {} into group {}, out of order; quantize "
                                        "without desc_act",
                                        i, index[i]));
}

void check_words(const PartReader& parts, const char* part, const Words& words, std::size_t rows,
                 std::size_t columns) {
  if (words.rows != rows || words.columns != columns)
    parts.refuse(part, fmt::format("has shape ({}, {}); the others need ({}, {})", words.rows,
                                   words.columns, rows, columns));
}

/// Scales of `groups` x `outputs` that divide the inputs.
Scales input_scales(const PartReader& parts, std::size_t inputs) {
  Scales scales = parts.scales("scales");
  if (scales.type == numerics::ScaleFormat::fp32)
    parts.refuse("scales", "has type F32, not F16 or BF16; convert it");
  if (inputs % scales.values.rows != 0)
    parts.refuse("scales", fmt::format("has {} groups, which do not divide {} inputs",
                                       scales.values.rows, inputs));
  return scales;
}

int gptq_bits(const PartReader& parts, const Words& qweight, std::size_t inputs) {
  for (const int bits : {2, 3, 4, 8})
    if (qweight.rows * 32 == inputs * static_cast<std::size_t>(bits)) return bits;
  parts.refuse("qweight", fmt::format("has {} rows, which for {} inputs of g_idx are not 2, 3, 4 "
                                      "or 8 bits",
                                      qweight.rows, inputs));
}

/// Each eight codes of a row in the order of `places`.
Codes reordered(const Codes& codes, bool back) {
  Codes result(codes.rows, codes.columns);
  for (std::size_t i = 0; i < codes.data.size(); ++i) {
    const std::size_t block = i - i % kAwqOrder.size();
    const std::size_t other = block + kAwqOrder[i % kAwqOrder.size()];
    result.data[back ? other : i] = codes.data[back ? i : other];
  }
  return result;
}

}  // namespace

std::vector<Part> gptq_parts(const Weight& weight, GptqZeros zeros) {
  const int bits = weight.elements.bits;
  Codes zero_points = zero_points_of(weight);
  if (zeros == GptqZeros::less_one) subtract_one(zero_points);
  return {part_of("qweight", FileType::int32, transposed(weight.words)),
          part_of("qzeros", FileType::int32, pack_rows(transposed(zero_points), bits)),
          scales_part("scales", weight.scale_type, transposed(weight.scales)), group_index(weight)};
}

Weight read_gptq(const PartReader& parts, GptqZeros zeros) {
  const Words qweight = parts.words("qweight");
  const Words qzeros = parts.words("qzeros");
  const std::size_t inputs = parts.list("g_idx").size();
  const int bits = gptq_bits(parts, qweight, inputs);
  const std::size_t outputs = qweight.columns;
  const Scales scales = input_scales(parts, inputs);
  check_order(parts, inputs, scales.values.rows);
  check_words(parts, "qweight", qweight, qweight.rows, scales.values.columns);
  check_words(parts, "qzeros", qzeros, scales.values.rows, word_count(outputs, bits));
  Codes zero_points = unpack_rows(qzeros, bits, outputs);
  if (zeros == GptqZeros::less_one) add_one(parts, zero_points, bits);
  return {.elements = integer_elements(bits),
          .scale_type = scales.type,
          .inputs = inputs,
          .words = transposed(qweight),
          .scales = transposed(scales.values),
          .zero_points = transposed(zero_points)};
}

std::vector<Part> awq_parts(const Weight& weight) {
  const auto packed = [](const Codes& codes) {
    return pack_rows(reordered(transposed(codes), false), kAwqBits);
  };
  return {part_of("qweight", FileType::int32, packed(codes_of(weight))),
          part_of("qzeros", FileType::int32, packed(zero_points_of(weight))),
          scales_part("scales", weight.scale_type, transposed(weight.scales))};
}

Weight read_awq(const PartReader& parts) {
  const Words qweight = parts.words("qweight");
  const Words qzeros = parts.words("qzeros");
  const Scales scales = input_scales(parts, qweight.rows);
  const std::size_t outputs = scales.values.columns;
  const std::size_t words = word_count(outputs, kAwqBits);
  check_words(parts, "qweight", qweight, qweight.rows, words);
  check_words(parts, "qzeros", qzeros, scales.values.rows, words);
  if (outputs % kAwqOrder.size() != 0)
    parts.refuse("scales", fmt::format("has {} columns; give a multiple of 8", outputs));
  const auto unpacked = [&](const Words& packed) {
    return transposed(reordered(unpack_rows(packed, kAwqBits, outputs), true));
  };
  return {.elements = integer_elements(kAwqBits),
          .scale_type = scales.type,
          .inputs = qweight.rows,
          .words = pack_rows(unpacked(qweight), kAwqBits),
          .scales = transposed(scales.values),
          .zero_points = unpacked(qzeros)};
}

}  // namespace equarx::checkpoints
