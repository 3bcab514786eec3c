#include "models/numerics/kernels/group_codes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/group_codes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

using Bytes = hn::Rebind<std::uint8_t, Floats>;

HWY_INLINE hn::Vec<Ints> load_codes(const std::uint8_t* from) {
  return hn::PromoteTo(Ints(), hn::LoadU(Bytes(), from));
}
HWY_INLINE void store_codes(hn::Vec<Ints> codes, std::uint8_t* to) {
  hn::StoreU(hn::TruncateTo(Bytes(), hn::BitCast(Words(), codes)), Bytes(), to);
}

/// Calls many(vector index) for whole vectors, and one(index) for the rest.
template <class Many, class One>
HWY_INLINE void for_each_lane(std::size_t count, Many many, One one) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) many(i);
  for (; i < count; ++i) one(i);
}

/// Calls act(group, first, count) for each group.
template <class Act>
HWY_INLINE void for_each_group(std::size_t size, std::size_t length, Act act) {
  std::size_t group = 0;
  for (std::size_t first = 0; first < size; first += length, ++group)
    act(group, first, std::min(length, size - first));
}

constexpr std::int32_t kInfBits = 0x7f800000;

/// Magnitudes as integers, which NaN and Inf exceed.
HWY_INLINE hn::Vec<Ints> magnitude_bits(Vector x) {
  return hn::And(hn::BitCast(Ints(), x), hn::Set(Ints(), kMagnitudeMask));
}
HWY_INLINE std::int32_t magnitude_bits(float x) {
  return std::bit_cast<std::int32_t>(x) & kMagnitudeMask;
}
HWY_INLINE std::int32_t largest_of(hn::Vec<Ints> lanes, std::int32_t rest) {
  return std::max(rest, hn::GetLane(hn::MaxOfLanes(Ints(), lanes)));
}

void FindMagnitudes(const ValueGroups& groups, float* largest) {
  for_each_group(groups.values.size(), groups.length,
                 [&](std::size_t group, std::size_t first, std::size_t count) {
                   const float* from = groups.values.data() + first;
                   auto most = hn::Zero(Ints());
                   std::int32_t rest = 0;
                   for_each_lane(
                       count,
                       [&](std::size_t i) { most = hn::Max(most, magnitude_bits(load(from + i))); },
                       [&](std::size_t i) { rest = std::max(rest, magnitude_bits(from[i])); });
                   largest[group] = std::bit_cast<float>(largest_of(most, rest));
                 });
}

bool FindRanges(const ValueGroups& groups, float* low, float* high) {
  auto size = hn::Zero(Ints());
  std::int32_t rest = 0;
  for_each_group(groups.values.size(), groups.length,
                 [&](std::size_t group, std::size_t first, std::size_t count) {
                   const float* from = groups.values.data() + first;
                   float least = from[0];
                   float most = from[0];
                   Vector least_lanes = hn::Set(Floats(), least);
                   Vector most_lanes = least_lanes;
                   for_each_lane(
                       count,
                       [&](std::size_t i) {
                         const Vector x = load(from + i);
                         least_lanes = hn::Min(least_lanes, x);
                         most_lanes = hn::Max(most_lanes, x);
                         size = hn::Max(size, magnitude_bits(x));
                       },
                       [&](std::size_t i) {
                         least = std::min(least, from[i]);
                         most = std::max(most, from[i]);
                         rest = std::max(rest, magnitude_bits(from[i]));
                       });
                   low[group] = std::min(least, hn::GetLane(hn::MinOfLanes(Floats(), least_lanes)));
                   high[group] = std::max(most, hn::GetLane(hn::MaxOfLanes(Floats(), most_lanes)));
                 });
  return largest_of(size, rest) < kInfBits;
}

constexpr float kBeyondCodes = 1024.0F;

/// Rounding of one group to integers.
template <bool kOfValue>
class IntegerGroup {
 public:
  IntegerGroup(float scale, float zero_point, const IntegerCodes& rule)
      : scale_(scale),
        origin_(zero_point),
        zero_(kOfValue ? 0 : static_cast<std::int32_t>(zero_point)),
        rule_(rule) {}

  HWY_INLINE hn::Vec<Ints> many(Vector x) const {
    const Floats f;
    if constexpr (kOfValue) x = hn::Sub(x, hn::Set(f, origin_));
    const Vector steps = hn::Div(x, hn::Set(f, scale_));
    const Vector within =
        hn::Min(hn::Max(steps, hn::Set(f, -kBeyondCodes)), hn::Set(f, kBeyondCodes));
    const auto code = hn::Add(hn::NearestInt(within), hn::Set(Ints(), zero_));
    return hn::Min(hn::Max(code, hn::Set(Ints(), rule_.lowest)), hn::Set(Ints(), rule_.highest));
  }
  HWY_INLINE std::int32_t one(float x) const {
    const float steps = (kOfValue ? x - origin_ : x) / scale_;
    const float near = std::nearbyint(std::clamp(steps, -kBeyondCodes, kBeyondCodes));
    return std::clamp(static_cast<std::int32_t>(near) + zero_, rule_.lowest, rule_.highest);
  }

 private:
  float scale_;
  float origin_;
  std::int32_t zero_;
  IntegerCodes rule_;
};

template <bool kOfValue>
void encode_integer_groups(const ValueGroups& groups, const float* scales, const float* zero_points,
                           const IntegerCodes& rule, std::uint8_t* codes) {
  for_each_group(
      groups.values.size(), groups.length,
      [&](std::size_t group, std::size_t first, std::size_t count) {
        const IntegerGroup<kOfValue> rounding(
            scales[group], zero_points == nullptr ? 0.0F : zero_points[group], rule);
        const float* from = groups.values.data() + first;
        std::uint8_t* to = codes + first;
        for_each_lane(
            count, [&](std::size_t i) { store_codes(rounding.many(load(from + i)), to + i); },
            [&](std::size_t i) { to[i] = static_cast<std::uint8_t>(rounding.one(from[i])); });
      });
}

void EncodeIntegers(const ValueGroups& groups, const float* scales, const float* zero_points,
                    IntegerCodes rule, std::uint8_t* codes) {
  if (rule.origin == Origin::value)
    return encode_integer_groups<true>(groups, scales, zero_points, rule, codes);
  encode_integer_groups<false>(groups, scales, zero_points, rule, codes);
}

/// Lookups in 16 floats, in registers if they are wide enough.
class SmallTable {
 public:
  HWY_INLINE explicit SmallTable(const float* values) : values_(values) {
    if constexpr (kRegisters) {
      low_ = load(values);
      high_ = load(values + (lanes() < 16 ? lanes() : 0));
    }
  }

  HWY_INLINE Vector at(hn::Vec<Ints> index) const {
    if constexpr (kRegisters) {
      const auto half = hn::And(index, hn::Set(Ints(), 7));
      const auto within = hn::IndicesFromVec(Floats(), HWY_LANES(float) == 8 ? half : index);
      const Vector low = hn::TableLookupLanes(low_, within);
      if constexpr (HWY_LANES(float) >= 16) return low;
      const auto upper = hn::RebindMask(Floats(), hn::Gt(index, hn::Set(Ints(), 7)));
      return hn::IfThenElse(upper, hn::TableLookupLanes(high_, within), low);
    }
    return hn::GatherIndex(Floats(), values_, index);
  }

 private:
  static constexpr bool kRegisters = !HWY_HAVE_SCALABLE && HWY_LANES(float) >= 8;
  const float* values_;
  Vector low_ = hn::Zero(Floats());
  Vector high_ = hn::Zero(Floats());
};

/// Lookups in any number of floats.
struct LargeTable {
  const float* values;
  HWY_INLINE Vector at(hn::Vec<Ints> index) const {
    return hn::GatherIndex(Floats(), values, index);
  }
};

std::int32_t rank_of(float x, const Thresholds& thresholds) {
  std::int32_t rank = 0;
  for (std::int32_t step = 1 << (thresholds.bits - 1); step > 0; step /= 2)
    if (x > thresholds.values[static_cast<std::size_t>(rank + step - 1)]) rank += step;
  return rank;
}

/// Binary search.
template <class Table>
HWY_INLINE hn::Vec<Ints> ranks_of(Vector x, const Table& table, int bits) {
  auto rank = hn::Zero(Ints());
  for (std::int32_t step = 1 << (bits - 1); step > 0; step /= 2) {
    const auto middle = table.at(hn::Add(rank, hn::Set(Ints(), step - 1)));
    const auto above = hn::RebindMask(Ints(), hn::Gt(x, middle));
    rank = hn::Add(rank, hn::IfThenElseZero(above, hn::Set(Ints(), step)));
  }
  return rank;
}

template <bool kSigned, class Table>
void encode_rank_groups(const ValueGroups& groups, const float* scales,
                        const Thresholds& thresholds, const Table& table, std::uint8_t* codes) {
  const auto sign = hn::Set(Ints(), thresholds.sign);
  const auto many = [&](const float* from, float scale, std::uint8_t* to) HWY_ATTR {
    const Vector steps = hn::Div(load(from), hn::Set(Floats(), scale));
    const auto rank = ranks_of(kSigned ? hn::Abs(steps) : steps, table, thresholds.bits);
    const auto negative = hn::BroadcastSignBit(hn::BitCast(Ints(), steps));
    store_codes(kSigned ? hn::Or(rank, hn::And(negative, sign)) : rank, to);
  };
  const auto one = [&](float x, float scale) {
    const float steps = x / scale;
    const std::int32_t rank = rank_of(kSigned ? std::abs(steps) : steps, thresholds);
    return static_cast<std::uint8_t>(rank | (kSigned && std::signbit(steps) ? thresholds.sign : 0));
  };
  for_each_group(groups.values.size(), groups.length,
                 [&](std::size_t group, std::size_t first, std::size_t count) {
                   const float* from = groups.values.data() + first;
                   for_each_lane(
                       count,
                       [&](std::size_t i) { many(from + i, scales[group], codes + first + i); },
                       [&](std::size_t i) { codes[first + i] = one(from[i], scales[group]); });
                 });
}

template <class Table>
void encode_ranks_by(const ValueGroups& groups, const float* scales, const Thresholds& thresholds,
                     const Table& table, std::uint8_t* codes) {
  if (thresholds.sign != 0)
    encode_rank_groups<true>(groups, scales, thresholds, table, codes);
  else
    encode_rank_groups<false>(groups, scales, thresholds, table, codes);
}

void EncodeRanks(const ValueGroups& groups, const float* scales, const Thresholds& thresholds,
                 std::uint8_t* codes) {
  if (thresholds.bits <= 4)
    encode_ranks_by(groups, scales, thresholds, SmallTable(thresholds.values.data()), codes);
  else
    encode_ranks_by(groups, scales, thresholds, LargeTable{thresholds.values.data()}, codes);
}

template <Origin kOrigin, class Table>
void decode_groups(const std::uint8_t* codes, std::size_t length, const float* scales,
                   const float* zero_points, const float* numbers, const Table& table,
                   std::span<float> values) {
  const auto value = [](auto number, auto scale, auto zero) HWY_ATTR {
    if constexpr (kOrigin == Origin::code) number = hn::Sub(number, zero);
    const auto product = hn::Mul(number, scale);
    return kOrigin == Origin::value ? hn::Add(product, zero) : product;
  };
  for_each_group(
      values.size(), length, [&](std::size_t group, std::size_t first, std::size_t count) {
        const float zero_point = kOrigin == Origin::none ? 0.0F : zero_points[group];
        const Vector scale = hn::Set(Floats(), scales[group]);
        const Vector zero = hn::Set(Floats(), zero_point);
        const std::uint8_t* from = codes + first;
        float* to = values.data() + first;
        for_each_lane(
            count,
            [&](std::size_t i) {
              store(value(table.at(load_codes(from + i)), scale, zero), to + i);
            },
            [&](std::size_t i) {
              const float number = numbers[from[i]] - (kOrigin == Origin::code ? zero_point : 0.0F);
              const float product = number * scales[group];
              to[i] = kOrigin == Origin::value ? product + zero_point : product;
            });
      });
}

template <class Table>
void decode_by(const std::uint8_t* codes, std::size_t length, const float* scales,
               const float* zero_points, const CodeTable& numbers, const Table& table,
               std::span<float> values) {
  const float* all = numbers.values.data();
  switch (numbers.origin) {
    case Origin::none:
      return decode_groups<Origin::none>(codes, length, scales, zero_points, all, table, values);
    case Origin::code:
      return decode_groups<Origin::code>(codes, length, scales, zero_points, all, table, values);
    case Origin::value: break;
  }
  decode_groups<Origin::value>(codes, length, scales, zero_points, all, table, values);
}

void DecodeCodes(const std::uint8_t* codes, std::size_t length, const float* scales,
                 const float* zero_points, const CodeTable& table, std::span<float> values) {
  if (table.small)
    decode_by(codes, length, scales, zero_points, table, SmallTable(table.values.data()), values);
  else
    decode_by(codes, length, scales, zero_points, table, LargeTable{table.values.data()}, values);
}

void PackHalves(std::span<const std::uint8_t> codes, std::byte* packed) {
  const auto* from = reinterpret_cast<const std::byte*>(codes.data());
  const std::size_t done = pack_nibbles(from, codes.size(), packed);
  pack_codes<4>(from + done, codes.size() - done, packed + done / 2);
}

void UnpackHalves(const std::byte* packed, std::span<std::uint8_t> codes) {
  auto* to = reinterpret_cast<std::byte*>(codes.data());
  const std::size_t done = unpack_nibbles<false>(packed, codes.size(), to);
  unpack_codes<4, false>(packed + done / 2, codes.size() - done, to + done);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(FindMagnitudes);
HWY_EXPORT(FindRanges);
HWY_EXPORT(EncodeIntegers);
HWY_EXPORT(EncodeRanks);
HWY_EXPORT(DecodeCodes);
HWY_EXPORT(PackHalves);
HWY_EXPORT(UnpackHalves);
}  // namespace

Thresholds::Thresholds(std::span<const float> ascending)
    : values{}, bits(std::max(1, static_cast<int>(std::bit_width(ascending.size())))) {
  values.fill(std::numeric_limits<float>::infinity());
  std::ranges::copy(ascending, values.begin());
}

void find_magnitudes(const ValueGroups& groups, float* largest) {
  HWY_DYNAMIC_DISPATCH(FindMagnitudes)(groups, largest);
}

bool find_ranges(const ValueGroups& groups, float* low, float* high) {
  return HWY_DYNAMIC_DISPATCH(FindRanges)(groups, low, high);
}

void encode_integers(const ValueGroups& groups, const float* scales, const float* zero_points,
                     IntegerCodes rule, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeIntegers)(groups, scales, zero_points, rule, codes);
}

void encode_ranks(const ValueGroups& groups, const float* scales, const Thresholds& thresholds,
                  std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeRanks)(groups, scales, thresholds, codes);
}

void decode_codes(const std::uint8_t* codes, std::size_t length, const float* scales,
                  const float* zero_points, const CodeTable& table, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(DecodeCodes)(codes, length, scales, zero_points, table, values);
}

void pack_halves(std::span<const std::uint8_t> codes, std::byte* packed) {
  HWY_DYNAMIC_DISPATCH(PackHalves)(codes, packed);
}

void unpack_halves(const std::byte* packed, std::span<std::uint8_t> codes) {
  HWY_DYNAMIC_DISPATCH(UnpackHalves)(packed, codes);
}

}  // namespace equarx::numerics::kernels
#endif
