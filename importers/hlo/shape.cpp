#include "importers/hlo/shape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::hlo {
namespace {

// Bits per element, from xla/xla_data.proto, PrimitiveType.
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 36> kTypes = {{
    {"pred", 8},     {"s1", 1},         {"s2", 2},     {"s4", 4},         {"s8", 8},
    {"s16", 16},     {"s32", 32},       {"s64", 64},   {"u1", 1},         {"u2", 2},
    {"u4", 4},       {"u8", 8},         {"u16", 16},   {"u32", 32},       {"u64", 64},
    {"f16", 16},     {"bf16", 16},      {"f32", 32},   {"f64", 64},       {"f4e2m1fn", 4},
    {"f6e2m3fn", 6}, {"f6e3m2fn", 6},   {"f8e3m4", 8}, {"f8e4m3", 8},     {"f8e4m3b11fnuz", 8},
    {"f8e4m3fn", 8}, {"f8e4m3fnuz", 8}, {"f8e5m2", 8}, {"f8e5m2fnuz", 8}, {"f8e8m0fnu", 8},
    {"c64", 64},     {"c128", 128},     {"token", 0},  {"opaque", 0},     {"buffer", 0},
    {"tuple", 0},
}};
constexpr double kBitsPerByte = 8.0;

}  // namespace

std::uint32_t type_bits(std::string_view type) {
  const auto* const known =
      std::ranges::find(kTypes, type, &std::pair<std::string_view, std::uint32_t>::first);
  return known == kTypes.end() ? 0 : known->second;
}

bool is_known_type(std::string_view type) {
  return std::ranges::find(kTypes, type, &std::pair<std::string_view, std::uint32_t>::first) !=
         kTypes.end();
}

double Shape::elements() const {
  if (is_tuple) return 0.0;
  double product = 1.0;
  for (const std::int64_t length : lengths) product *= static_cast<double>(length);
  return product;
}

double Shape::bytes() const {
  if (!is_tuple) return elements() * type_bits(type) / kBitsPerByte;
  double sum = 0.0;
  for (const Shape& part : parts) sum += part.bytes();
  return sum;
}

double Shape::bytes_in(MemorySpace where) const {
  if (!is_tuple) return space == where ? bytes() : 0.0;
  double sum = 0.0;
  for (const Shape& part : parts) sum += part.bytes_in(where);
  return sum;
}

std::string text_of(const Shape& shape) {
  if (!shape.is_tuple) return fmt::format("{}[{}]", shape.type, fmt::join(shape.lengths, ","));
  std::vector<std::string> parts;
  for (const Shape& part : shape.parts) parts.push_back(text_of(part));
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace equarx::hlo
