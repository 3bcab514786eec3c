#include "models/checkpoints/weight.hpp"

#include <cstring>
#include <span>

#include "models/stored/code_bits.hpp"

namespace equarx::checkpoints {
namespace {

using stored::ElementKind;

/// Signed codes count from 0 in a checkpoint: the sign bits of a word of codes change.
std::uint32_t flipped_bits(const stored::Elements& elements, bool shifted) {
  if (elements.kind != ElementKind::integer || shifted) return 0;
  std::uint32_t bits = 0;
  for (int bit = elements.bits - 1; bit < 32; bit += elements.bits) bits |= 1U << bit;
  return bits;
}

/// Rows of words from codes without gaps, or back, if rows are whole words of whole codes.
bool are_whole_words(std::size_t columns, int bits) {
  return 32 % bits == 0 && columns * static_cast<std::size_t>(bits) % 32 == 0;
}

/// Codes that fill a byte each, with other sign bits.
void flip_signs(std::span<std::uint8_t> codes, int bits, std::uint32_t flipped) {
  if (flipped != 0)
    for (std::uint8_t& code : codes) code ^= static_cast<std::uint8_t>(1U << (bits - 1));
}

Words words_of(const stored::Packed& packed, int bits, std::uint32_t flipped) {
  const auto [rows, columns] = packed.shape;
  if (!are_whole_words(columns, bits)) {
    Codes codes(rows, columns);
    stored::unpack_bits(packed.codes.data(), bits, codes.data);
    flip_signs(codes.data, bits, flipped);
    return pack_rows(codes, bits);
  }
  Words words(rows, word_count(columns, bits));
  std::memcpy(words.data.data(), packed.codes.data(), packed.codes.size());
  for (std::int32_t& word : words.data) word ^= static_cast<std::int32_t>(flipped);
  return words;
}

std::vector<std::byte> bytes_of(const Weight& weight, std::uint32_t flipped) {
  const int bits = weight.elements.bits;
  std::vector<std::byte> bytes(stored::packed_bytes(bits, weight.words.rows * weight.inputs));
  if (!are_whole_words(weight.inputs, bits)) {
    Codes codes = codes_of(weight);
    flip_signs(codes.data, bits, flipped);
    stored::pack_bits(codes.data, bits, bytes.data());
    return bytes;
  }
  Words words = weight.words;
  for (std::int32_t& word : words.data) word ^= static_cast<std::int32_t>(flipped);
  std::memcpy(bytes.data(), words.data.data(), bytes.size());
  return bytes;
}

stored::StoredFormat format_of(const Weight& weight) {
  stored::StoredFormat format;
  format.elements = weight.elements;
  format.groups = {stored::Along::row, weight.inputs / weight.scales.columns};
  format.scale.type = weight.scale_type;
  format.scale.of_tensor = weight.tensor_scale != 1.0F;
  if (weight.scale_type == numerics::ScaleFormat::e8m0)
    format.scale.rule = stored::RangeRule::power_of_two_down;
  if (weight.zero_points.empty()) return format;
  format.scale.rule = stored::RangeRule::min_max;
  format.scale.zero_point = stored::ZeroPoint::rounded;
  return format;
}

}  // namespace

stored::Elements integer_elements(int bits) {
  stored::Elements elements;
  elements.bits = bits;
  elements.levels = 1U << static_cast<unsigned>(bits);
  return elements;
}

Codes codes_of(const Weight& weight) {
  return unpack_rows(weight.words, weight.elements.bits, weight.inputs);
}

Weight weight_of(const stored::StoredFormat& format, const stored::Packed& packed) {
  const auto [rows, columns] = packed.shape;
  const std::uint32_t flipped = flipped_bits(format.elements, !packed.zero_points.empty());
  Weight weight{.elements = format.elements,
                .scale_type = format.scale.type,
                .inputs = columns,
                .words = words_of(packed, format.elements.bits, flipped),
                .scales = {rows, packed.scales.size() / rows},
                .zero_points = {},
                .tensor_scale = packed.tensor_scale};
  weight.scales.data = packed.scales;
  if (packed.zero_points.empty()) return weight;
  weight.zero_points = {rows, weight.scales.columns};
  for (std::size_t i = 0; i < packed.zero_points.size(); ++i)
    weight.zero_points.data[i] = static_cast<std::uint8_t>(packed.zero_points[i]);
  return weight;
}

Stored stored_of(const Weight& weight) {
  const std::uint32_t flipped = flipped_bits(weight.elements, !weight.zero_points.empty());
  Stored result{format_of(weight), {}};
  result.packed = {.shape = {weight.words.rows, weight.inputs},
                   .codes = bytes_of(weight, flipped),
                   .scales = weight.scales.data,
                   .zero_points = {weight.zero_points.data.begin(), weight.zero_points.data.end()},
                   .tensor_scale = weight.tensor_scale};
  return result;
}

}  // namespace equarx::checkpoints
