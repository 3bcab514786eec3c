#include "models/stored/stored_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace equarx::stored {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

bool is_power_rule(RangeRule rule) {
  return rule == RangeRule::power_of_two_up || rule == RangeRule::power_of_two_down;
}

/// Length of groups along a dimension of `size` elements.
std::size_t group_length(const Groups& groups, std::size_t size, const std::string& what) {
  const std::size_t length = groups.length == 0 ? size : groups.length;
  require(size % length == 0, "groups of " + std::to_string(length) + " do not divide " + what +
                                  " of " + std::to_string(size) +
                                  " elements; give a divisor as length");
  return length;
}

std::size_t divide_up(std::size_t value, std::size_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Distance between the elements of a strided group.
std::size_t stride_of(const Groups& groups) {
  require(groups.length > 0, "strided groups need a length, the number of groups");
  return groups.length;
}

void check_block(const Groups& groups) {
  require(groups.length > 0 && groups.rows > 0, "blocks need a length and a number of rows");
}

std::vector<Group> tensor_groups(const Groups& groups, std::size_t size) {
  const std::size_t length = groups.length == 0 ? size : groups.length;
  std::vector<Group> all;
  for (std::size_t first = 0; first < size; first += length)
    all.push_back({first, 1, std::min(length, size - first)});
  return all;
}

std::vector<Group> strided_groups(const Groups& groups, std::size_t size) {
  const std::size_t stride = stride_of(groups);
  std::vector<Group> all;
  for (std::size_t first = 0; first < std::min(stride, size); ++first)
    all.push_back({first, stride, (size - first - 1) / stride + 1});
  return all;
}

std::vector<Group> row_groups(const Groups& groups, const Shape& shape) {
  const std::size_t length = group_length(groups, shape.columns, "rows");
  std::vector<Group> all;
  for (std::size_t first = 0; first < shape.elements(); first += length)
    all.push_back({first, 1, length});
  return all;
}

std::vector<Group> column_groups(const Groups& groups, const Shape& shape) {
  const std::size_t length = group_length(groups, shape.rows, "columns");
  std::vector<Group> all;
  for (std::size_t row = 0; row < shape.rows; row += length)
    for (std::size_t column = 0; column < shape.columns; ++column)
      all.push_back({row * shape.columns + column, shape.columns, length});
  return all;
}

std::vector<Group> block_groups(const Groups& groups, const Shape& shape) {
  check_block(groups);
  std::vector<Group> all;
  for (std::size_t row = 0; row < shape.rows; row += groups.rows)
    for (std::size_t column = 0; column < shape.columns; column += groups.length) {
      const std::size_t wide = std::min(groups.length, shape.columns - column);
      const std::size_t high = std::min(groups.rows, shape.rows - row);
      all.push_back({row * shape.columns + column, 1, wide * high, wide, shape.columns});
    }
  return all;
}

void check_range(const StoredFormat& format) {
  const Scale& scale = format.scale;
  const bool shifted = scale.zero_point != ZeroPoint::none;
  require(!shifted || format.elements.kind == ElementKind::integer,
          "a zero point is for integers; remove it");
  require(shifted || scale.rule != RangeRule::min_max,
          "the rule min-max needs a zero point: rounded or float");
  const bool from_range = scale.rule != RangeRule::abs_max && !is_power_rule(scale.rule) &&
                          scale.rule != RangeRule::given;
  const bool implied = scale.rule == RangeRule::abs_max && scale.zero_point == ZeroPoint::real;
  require(!shifted || from_range || implied,
          "a zero point needs the rule min-max, search or quantile; abs-max takes float only");
  require(shifted || format.elements.kind != ElementKind::integer || format.elements.levels >= 3,
          "an integer of 2 levels needs a zero point");
  require(shifted || !scale.with_zero, "with_zero is for ranges with a zero point; remove it");
}

}  // namespace

std::optional<std::vector<float>> named_table(const std::string& name) {
  // NF4: bitsandbytes, csrc/kernels.cu. NF2, NF3: normal quantiles as in FLUTE (arXiv 2407.10960).
  static const std::map<std::string, std::vector<float>> kTables = {
      {"nf2", {-1.0F, 0.0F, 0.337915123F, 1.0F}},
      {"nf3",
       {-1.0F, -0.478629082F, -0.217141777F, 0.0F, 0.160930142F, 0.337915123F, 0.562616885F, 1.0F}},
      {"nf4",
       {-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
        -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
        0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F, 0.33791524171829224F,
        0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F}},
      {"fp4",
       {-6.0F, -4.0F, -3.0F, -2.0F, -1.5F, -1.0F, -0.5F, 0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F,
        6.0F}}};
  const auto found = kTables.find(name);
  if (found == kTables.end()) return std::nullopt;
  return found->second;
}

std::vector<float> magnitudes(const Elements& elements) {
  const int mantissas = 1 << elements.mantissa_bits;
  int codes = 1 << (elements.bits - 1);
  if (elements.specials == Specials::nan) codes -= 1;
  if (elements.specials == Specials::ieee) codes -= mantissas;
  std::vector<float> values;
  for (int code = 0; code < codes; ++code) {
    const int exponent = code / mantissas;
    const int mantissa = code % mantissas + (exponent > 0 ? mantissas : 0);
    values.push_back(std::ldexp(static_cast<float>(mantissa),
                                std::max(exponent, 1) - elements.bias - elements.mantissa_bits));
  }
  return values;
}

float largest_element(const Elements& elements) {
  const std::uint32_t largest_code = (elements.levels - 1) / 2;
  switch (elements.kind) {
    case ElementKind::integer: return static_cast<float>(largest_code);
    case ElementKind::minifloat: return magnitudes(elements).back();
    case ElementKind::table:
      return std::max(std::abs(elements.table.front()), std::abs(elements.table.back()));
    case ElementKind::k_means: break;
  }
  return 1.0F;
}

bool has_scales(const StoredFormat& format) { return format.elements.kind != ElementKind::k_means; }

bool needs_importance(const StoredFormat& format) {
  return format.elements.weighted || format.apart.important > 0.0;
}

bool needs_inputs(const StoredFormat& format) {
  return format.feedback.order != FeedbackOrder::none ||
         (format.widths.by_salience && format.widths.bits.empty());
}

std::size_t row_group_length(const Groups& groups, const Shape& shape) {
  if (groups.along == Along::row) return group_length(groups, shape.columns, "rows");
  require(groups.along == Along::tensor && groups.length > 0 && shape.columns % groups.length == 0,
          "feedback and widths need groups within rows; give \"along\": \"row\"");
  return groups.length;
}

std::vector<Group> groups_of(const Groups& groups, const Shape& shape) {
  switch (groups.along) {
    case Along::tensor: return tensor_groups(groups, shape.elements());
    case Along::row: return row_groups(groups, shape);
    case Along::column: return column_groups(groups, shape);
    case Along::strided: return strided_groups(groups, shape.elements());
    case Along::block: break;
  }
  return block_groups(groups, shape);
}

std::size_t group_count(const Groups& groups, const Shape& shape) {
  const std::size_t elements = shape.elements();
  if (elements == 0) return 0;
  switch (groups.along) {
    case Along::tensor: return divide_up(elements, groups.length == 0 ? elements : groups.length);
    case Along::row: return elements / group_length(groups, shape.columns, "rows");
    case Along::column: return elements / group_length(groups, shape.rows, "columns");
    case Along::strided: return std::min(stride_of(groups), elements);
    case Along::block: break;
  }
  check_block(groups);
  return divide_up(shape.rows, groups.rows) * divide_up(shape.columns, groups.length);
}

std::size_t largest_count(const StoredFormat& format, const Shape& shape) {
  return static_cast<std::size_t>(
      std::llround(format.apart.largest * static_cast<double>(shape.elements())));
}

std::size_t important_count(const StoredFormat& format, const Shape& shape) {
  return static_cast<std::size_t>(
      std::llround(format.apart.important * static_cast<double>(shape.elements())));
}

void check_widths(const StoredFormat& format, const Shape& shape) {
  const std::size_t groups = shape.columns / row_group_length(format.groups, shape);
  require(format.widths.bits.size() == groups, std::to_string(format.widths.bits.size()) +
                                                   " widths for " + std::to_string(groups) +
                                                   " groups of columns; give one for each group");
}

namespace {

/// Codes and zero points of groups with different bits; a group of 1 bit has a full zero point.
void count_widths(const StoredFormat& format, const Shape& shape, std::uint64_t scale_bits,
                  StoredBits& bits) {
  check_widths(format, shape);
  const std::size_t length = row_group_length(format.groups, shape);
  bits.codes = 0;
  bits.zero_points = 0;
  for (const int width : format.widths.bits) {
    const bool full = width == 1 || format.scale.zero_point == ZeroPoint::real;
    bits.codes += shape.rows * length * static_cast<std::uint64_t>(width);
    bits.zero_points += shape.rows * (full ? scale_bits : static_cast<std::uint64_t>(width));
  }
  bits.widths = 2 * format.widths.bits.size();
}

}  // namespace

StoredBits stored_bits(const StoredFormat& format, const Shape& shape) {
  const Elements& elements = format.elements;
  const Scale& scale = format.scale;
  const std::uint64_t groups = group_count(format.groups, shape);
  const std::uint64_t scale_bits = 8 * numerics::scale_bytes(scale.type);
  StoredBits bits;
  bits.codes = static_cast<std::uint64_t>(elements.bits) * shape.elements();
  if (elements.kind == ElementKind::k_means) {
    bits.tables = (groups << static_cast<unsigned>(elements.bits)) * 8 *
                  numerics::scale_bytes(elements.table_type);
  } else {
    bits.scales = scale_bits * (scale.rule == RangeRule::given ? 1 : groups);
    if (scale.of_tensor) bits.scales += 8 * numerics::kTensorScaleBytes;
    if (elements.kind == ElementKind::table) bits.tables = 32 * elements.table.size();
  }
  if (scale.zero_point == ZeroPoint::rounded)
    bits.zero_points = static_cast<std::uint64_t>(elements.bits) * groups;
  if (scale.zero_point == ZeroPoint::real && scale.rule != RangeRule::abs_max)
    bits.zero_points = scale_bits * groups;
  bits.apart = (largest_count(format, shape) + important_count(format, shape)) *
               (8 * numerics::scale_bytes(format.apart.type) + format.apart.index_bits);
  bits.before = 32 * format.before.column_factors.size();
  if (!format.widths.bits.empty()) count_widths(format, shape, scale_bits, bits);
  return bits;
}

void check_elements(const Elements& elements) {
  const std::string room = std::to_string(elements.bits) + " bits have " +
                           std::to_string(1U << static_cast<unsigned>(elements.bits)) + " codes";
  const std::size_t most = std::size_t{1} << static_cast<unsigned>(elements.bits);
  require(elements.levels >= 2 && elements.levels <= most,
          room + ", not " + std::to_string(elements.levels) + " levels; give 2 to " +
              std::to_string(most));
  if (elements.kind != ElementKind::table) return;
  require(elements.table.size() >= 2 && elements.table.size() <= most,
          room + ", not " + std::to_string(elements.table.size()) + " values");
  require(std::ranges::all_of(elements.table, [](float x) { return std::isfinite(x); }),
          "the table has a value beyond FP32; scale it down");
  require(
      std::ranges::adjacent_find(elements.table, std::greater_equal<>()) == elements.table.end(),
      "the table does not ascend; sort it and drop repeated values");
  require(largest_element(elements) > 0.0F, "the table has no value but 0");
}

void check_scale(const StoredFormat& format) {
  const Scale& scale = format.scale;
  check_range(format);
  require(is_power_rule(scale.rule) || scale.type != numerics::ScaleFormat::e8m0,
          "e8m0 scales need the rule power-of-two-up or power-of-two-down");
  require(!scale.of_tensor ||
              (scale.type == numerics::ScaleFormat::e4m3 && scale.rule == RangeRule::abs_max),
          "a scale of the tensor needs e4m3 scales and the rule abs-max");
}

void check_apart(const Apart& apart) {
  require(apart.largest + apart.important < 1.0, "all elements are apart; lower the shares");
}

void check_before(const Before& before) {
  require(before.hadamard == 0 || std::has_single_bit(before.hadamard),
          "a Hadamard rotation needs a block of a power of two");
  require(std::ranges::find(before.column_factors, 0.0) == before.column_factors.end(),
          "a column factor is 0; give others");
  require(std::ranges::all_of(before.column_factors,
                              [](double x) {
                                return std::abs(x) >= std::numeric_limits<float>::min() &&
                                       std::abs(x) <= std::numeric_limits<float>::max();
                              }),
          "a column factor is no normal FP32 number; give others");
}

void check_widths(const StoredFormat& format) {
  const Widths& widths = format.widths;
  if (!widths.by_salience && widths.bits.empty()) return;
  require(
      format.elements.kind == ElementKind::integer && format.scale.zero_point != ZeroPoint::none,
      "widths are for integers with a zero point; remove them");
  require(format.elements.levels == std::uint32_t{1} << static_cast<unsigned>(format.elements.bits),
          "widths need all levels of their bits; remove \"levels\"");
  require(format.elements.bits >= 2 && format.elements.bits <= 7,
          "widths need 2 to 7 bits, so that groups can have one less or more");
  for (const int bits : widths.bits)
    require(std::abs(bits - format.elements.bits) <= 1,
            std::to_string(bits) + " bits of a group; give " +
                std::to_string(format.elements.bits) + ", one less or one more");
}

void check(const StoredFormat& format) {
  check_elements(format.elements);
  if (has_scales(format)) check_scale(format);
  require(has_scales(format) || format.scale == Scale{},
          "fitted tables have no scales; remove the scale");
  check_apart(format.apart);
  check_before(format.before);
  check_widths(format);
}

}  // namespace equarx::stored
