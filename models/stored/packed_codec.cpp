#include "models/stored/packed_codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "base/os/parallel_for.hpp"
#include "models/numerics/kernels/group_codes.hpp"
#include "models/stored/code_bits.hpp"
#include "models/stored/finite.hpp"
#include "models/stored/quantizer.hpp"

namespace equarx::stored {
namespace {

namespace kernels = numerics::kernels;

constexpr std::size_t kPiece = 4096;    ///< elements whose codes fill a buffer in the L1 cache
constexpr std::size_t kTask = 1 << 16;  ///< elements of a task, at least

using PieceCodes = std::array<std::uint8_t, kPiece>;

std::size_t group_length(const StoredFormat& format, const Shape& shape) {
  if (format.groups.length > 0) return format.groups.length;
  return format.groups.along == Along::row ? shape.columns : shape.elements();
}

kernels::Origin origin_of(const StoredFormat& format) {
  switch (format.scale.zero_point) {
    case ZeroPoint::none: return kernels::Origin::none;
    case ZeroPoint::rounded: return kernels::Origin::code;
    case ZeroPoint::real: break;
  }
  return kernels::Origin::value;
}

/// Division of a tensor into groups, and of groups into tasks.
struct Division {
  std::size_t size;
  std::size_t length;  ///< of a group
  std::size_t groups;
  std::size_t per_task;   ///< groups of a task
  std::size_t per_piece;  ///< groups of a piece

  Division(const StoredFormat& format, const Shape& shape)
      : size(shape.elements()),
        length(group_length(format, shape)),
        groups((size + length - 1) / length),
        per_task(std::max<std::size_t>(1, kTask / length)),
        per_piece(std::max<std::size_t>(1, kPiece / length)) {}

  /// Calls act(first group, groups) for pieces of whole groups, task by task.
  void for_each_piece(unsigned threads,
                      const std::function<void(std::size_t, std::size_t)>& act) const {
    os::parallel_for((groups + per_task - 1) / per_task, threads, [&](std::size_t task, unsigned) {
      const std::size_t end = std::min(groups, (task + 1) * per_task);
      for (std::size_t g = task * per_task; g < end; g += per_piece)
        act(g, std::min(per_piece, end - g));
    });
  }
  /// Calls act(first element, elements) for parts of groups that fit a buffer.
  template <typename Act>
  void for_each_part(std::size_t group, std::size_t count, Act act) const {
    const std::size_t end = std::min(size, (group + count) * length);
    for (std::size_t first = group * length; first < end; first += kPiece)
      act(first, std::min(kPiece, end - first));
  }
};

class PackedEncoder {
 public:
  PackedEncoder(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                Packed& packed, std::size_t first)
      : format_(format),
        quantizer_(format),
        division_(format, shape),
        values_(values),
        origin_(origin_of(format)),
        first_(first),
        packed_(packed) {
    if (format.elements.kind != ElementKind::integer) {
      thresholds_.emplace(quantizer_.thresholds());
      if (format.elements.kind == ElementKind::minifloat)
        thresholds_->sign = static_cast<std::uint8_t>(1U << (format.elements.bits - 1));
    }
    packed_.shape = shape;
    packed_.codes.resize(packed_bytes(format.elements.bits, values.size()));
    packed_.scales.resize(division_.groups);
    packed_.zero_points.resize(origin_ == kernels::Origin::none ? 0 : division_.groups);
    packed_.tensor_scale = 1.0F;
  }

  void run(unsigned threads) {
    if (format_.scale.of_tensor) find_unit(threads);
    division_.for_each_piece(threads, [&](std::size_t group, std::size_t count) {
      find_scales(group, count);
      encode_groups(group, count);
    });
  }

 private:
  kernels::ValueGroups groups_at(std::size_t group, std::size_t count) const {
    const std::size_t first = group * division_.length;
    const std::size_t end = std::min(values_.size(), first + count * division_.length);
    return {values_.subspan(first, end - first), division_.length};
  }

  void find_unit(unsigned threads) {
    std::vector<float> largest(division_.groups);
    division_.for_each_piece(threads, [&](std::size_t group, std::size_t count) {
      const kernels::ValueGroups groups = groups_at(group, count);
      kernels::find_magnitudes(groups, largest.data() + group);
    });
    if (!std::ranges::all_of(largest, [](float x) { return std::isfinite(x); }))
      check_finite(values_, "element", first_);
    packed_.tensor_scale = quantizer_.tensor_scale(std::ranges::max(largest));
  }

  /// False if a value is not finite.
  bool find_ranges(const kernels::ValueGroups& groups, float* low, float* high) const {
    const bool symmetric =
        origin_ == kernels::Origin::none || format_.scale.rule == RangeRule::abs_max;
    if (!symmetric) return kernels::find_ranges(groups, low, high);
    kernels::find_magnitudes(groups, high);
    std::transform(high, high + groups.count(), low, std::negate<>());
    return std::all_of(high, high + groups.count(), [](float x) { return std::isfinite(x); });
  }

  void find_scales(std::size_t group, std::size_t count) {
    const kernels::ValueGroups groups = groups_at(group, count);
    std::array<float, kPiece / 8> low{};
    std::array<float, kPiece / 8> high{};
    if (!find_ranges(groups, low.data(), high.data()))
      check_finite(groups.values, "element", first_ + group * division_.length);
    quantizer_.scales_of_ranges(std::span(low).first(count), std::span(high).first(count),
                                packed_.tensor_scale, packed_.scales.data() + group,
                                zero_points_at(group));
  }

  /// Null without zero points.
  float* zero_points_at(std::size_t group) {
    return origin_ == kernels::Origin::none ? nullptr : packed_.zero_points.data() + group;
  }

  void encode_groups(std::size_t group, std::size_t count) {
    const float* scales = packed_.scales.data() + group;
    const float* zeros = zero_points_at(group);
    division_.for_each_part(group, count, [&](std::size_t first, std::size_t size) {
      PieceCodes buffer;
      const std::span<std::uint8_t> codes(buffer.data(), size);
      const kernels::ValueGroups part{values_.subspan(first, size), division_.length};
      if (thresholds_)
        kernels::encode_ranks(part, scales, *thresholds_, codes.data());
      else
        kernels::encode_integers(part, scales, zeros, integer_codes(), codes.data());
      pack_bits(codes, format_.elements.bits,
                packed_.codes.data() + packed_bytes(format_.elements.bits, first));
    });
  }

  kernels::IntegerCodes integer_codes() const {
    const auto levels = static_cast<std::int32_t>(format_.elements.levels);
    const std::int32_t lowest = origin_ == kernels::Origin::none ? -(levels / 2) : 0;
    return {lowest, lowest + levels - 1, origin_};
  }

  const StoredFormat& format_;
  const Quantizer quantizer_;
  const Division division_;
  const std::span<const float> values_;
  const kernels::Origin origin_;
  std::optional<kernels::Thresholds> thresholds_;
  const std::size_t first_;  ///< element of the first value, for errors
  Packed& packed_;
};

kernels::CodeTable code_table(const StoredFormat& format) {
  kernels::CodeTable table{
      .values = {}, .small = format.elements.bits <= 4, .origin = origin_of(format)};
  const std::vector<float> numbers = Quantizer(format).numbers();
  std::ranges::copy(numbers, table.values.begin());
  return table;
}

}  // namespace

bool has_kernels(const StoredFormat& format, const Shape& shape) {
  const bool consecutive =
      format.groups.along == Along::row || format.groups.along == Along::tensor;
  const bool by_range =
      format.scale.rule != RangeRule::search && format.scale.rule != RangeRule::quantile;
  const bool even = format.ties == Ties::even || format.elements.kind == ElementKind::table;
  if (!consecutive || !by_range || !even || !has_scales(format)) return false;
  if (format.apart != Apart{} || format.before != Before{} || format.widths != Widths{} ||
      shape.elements() == 0)
    return false;
  const std::size_t length = group_length(format, shape);
  if (format.groups.along == Along::row && shape.columns % length != 0) return false;
  return length % 8 == 0 || length >= shape.elements();
}

Packed encode_packed(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                     unsigned threads) {
  Packed packed;
  encode_packed(format, shape, values, packed, threads);
  return packed;
}

void encode_packed(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                   Packed& packed, unsigned threads, std::size_t first) {
  PackedEncoder(format, shape, values, packed, first).run(threads);
}

void decode_packed(const StoredFormat& format, const Packed& packed, std::span<float> values,
                   unsigned threads) {
  const Division division(format, packed.shape);
  const kernels::CodeTable table = code_table(format);
  const int bits = format.elements.bits;
  division.for_each_piece(threads, [&](std::size_t group, std::size_t count) {
    division.for_each_part(group, count, [&](std::size_t first, std::size_t size) {
      PieceCodes buffer;
      const std::span<std::uint8_t> codes(buffer.data(), size);
      unpack_bits(packed.codes.data() + packed_bytes(bits, first), bits, codes);
      kernels::decode_codes(
          codes.data(), division.length, packed.scales.data() + group,
          packed.zero_points.empty() ? nullptr : packed.zero_points.data() + group, table,
          values.subspan(first, size));
    });
  });
}

std::vector<float> decode_packed(const StoredFormat& format, const Packed& packed,
                                 unsigned threads) {
  std::vector<float> values(packed.shape.elements());
  decode_packed(format, packed, values, threads);
  return values;
}

Packed packed(const StoredFormat& format, const Encoded& encoded) {
  const int bits = format.elements.bits;
  Packed result{.shape = encoded.shape,
                .codes = std::vector<std::byte>(packed_bytes(bits, encoded.codes.size())),
                .scales = encoded.scales,
                .zero_points = encoded.zero_points,
                .tensor_scale = encoded.tensor_scale};
  std::vector<std::uint8_t> codes(encoded.codes.size());
  std::ranges::transform(encoded.codes, codes.begin(),
                         [](std::int16_t code) { return static_cast<std::uint8_t>(code); });
  pack_bits(codes, bits, result.codes.data());
  return result;
}

Encoded unpacked(const StoredFormat& format, const Packed& packed) {
  const Elements& elements = format.elements;
  Encoded encoded{.shape = packed.shape,
                  .codes = std::vector<std::int16_t>(packed.shape.elements()),
                  .scales = packed.scales,
                  .zero_points = packed.zero_points,
                  .tensor_scale = packed.tensor_scale};
  std::vector<std::uint8_t> codes(encoded.codes.size());
  unpack_bits(packed.codes.data(), elements.bits, codes);
  const bool is_signed =
      elements.kind == ElementKind::integer && format.scale.zero_point == ZeroPoint::none;
  const int sign = is_signed ? 1 << (elements.bits - 1) : 0;
  std::ranges::transform(codes, encoded.codes.begin(), [&](std::uint8_t code) {
    return static_cast<std::int16_t>((code ^ sign) - sign);
  });
  return encoded;
}

}  // namespace equarx::stored
