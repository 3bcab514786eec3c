#include "models/stored/quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/elements/minifloat.hpp"

namespace equarx::stored {
namespace {

using numerics::ScaleFormat;

constexpr float kLargestFloat = std::numeric_limits<float>::max();

float smallest(ScaleFormat type) {
  switch (type) {
    case ScaleFormat::e8m0: return 0x1p-127F;
    case ScaleFormat::e4m3: return 0x1p-9F;
    case ScaleFormat::fp16: return 0x1p-24F;
    case ScaleFormat::fp32:
    case ScaleFormat::bf16: break;
  }
  return std::numeric_limits<float>::min();
}

float largest(ScaleFormat type) {
  switch (type) {
    case ScaleFormat::fp32: return kLargestFloat;
    case ScaleFormat::bf16: return 0x1.fep127F;
    case ScaleFormat::fp16: return 65504.0F;
    case ScaleFormat::e4m3: return numerics::Fp8E4m3::kMaxFinite;
    case ScaleFormat::e8m0: break;
  }
  return 0x1p127F;
}

/// Nearest integer. `value` is small.
float nearest_integer(float value, Ties ties) {
  switch (ties) {
    case Ties::even: return std::nearbyint(value);
    case Ties::away: return std::round(value);
    case Ties::up: break;
  }
  const float below = std::floor(value);
  return value - below >= 0.5F ? below + 1.0F : below;
}

/// Code of a magnitude; `negative`: of its value.
std::int16_t nearest_magnitude(std::span<const float> magnitudes, float value, bool negative,
                               Ties ties) {
  const auto above = std::ranges::lower_bound(magnitudes, value);
  if (above == magnitudes.begin()) return 0;
  const auto index = static_cast<std::int16_t>(above - magnitudes.begin());
  if (above == magnitudes.end()) return static_cast<std::int16_t>(index - 1);
  const double to_lower = double{value} - double{*(above - 1)};
  const double to_upper = double{*above} - double{value};
  const bool up_on_tie = ties == Ties::away || (ties == Ties::up && !negative) ||
                         (ties == Ties::even && index % 2 == 0);
  const bool up = to_upper < to_lower || (to_upper == to_lower && up_on_tie);
  return static_cast<std::int16_t>(up ? index : index - 1);
}

float largest_magnitude(std::span<const float> values) {
  float most = 0.0F;
  for (const float value : values) most = std::max(most, std::abs(value));
  return most;
}

/// Next smaller number of a type; `value` is one, and above the smallest.
float below(float value, ScaleFormat type) {
  switch (type) {
    case ScaleFormat::fp32: break;
    case ScaleFormat::bf16:
      return numerics::float_from_bf16(
          static_cast<std::uint16_t>(numerics::bf16_from_float(value) - 1));
    case ScaleFormat::fp16:
      return numerics::float_from_fp16(
          static_cast<std::uint16_t>(numerics::fp16_from_float(value) - 1));
    case ScaleFormat::e4m3:
      return numerics::Fp8E4m3::decode(
          static_cast<numerics::Fp8E4m3::Code>(numerics::Fp8E4m3::encode(value) - 1));
    case ScaleFormat::e8m0: return value / 2;
  }
  return std::nextafter(value, 0.0F);
}

/// Largest magnitude of a decoded value, in units of the scale and counted from the zero point.
float most_steps(const StoredFormat& format) {
  const Elements& elements = format.elements;
  if (elements.kind != ElementKind::integer) return largest_element(elements);
  const bool shifted = format.scale.zero_point != ZeroPoint::none;
  return static_cast<float>(shifted ? elements.levels - 1 : elements.levels / 2);
}

/// Largest number of a type that `most` multiplies to a finite one.
float largest_finite_scale(ScaleFormat type, float most) {
  float scale = type == ScaleFormat::e8m0
                    ? largest(type)
                    : rounded(std::min(kLargestFloat / most, kLargestFloat), type);
  while (!std::isfinite(most * scale)) scale = below(scale, type);
  return scale;
}

/// Range with this share of the values inside.
Range quantile_range(std::span<const float> values, double share, bool symmetric) {
  std::vector<float> sorted(values.begin(), values.end());
  if (symmetric)
    for (float& value : sorted) value = std::abs(value);
  std::ranges::sort(sorted);
  if (sorted.empty()) return {0.0F, 0.0F};
  const std::size_t last = sorted.size() - 1;
  const auto above = static_cast<std::size_t>(std::ceil(share * static_cast<double>(last)));
  if (symmetric) return {-sorted[above], sorted[above]};
  return {sorted[last - above], sorted[above]};
}

}  // namespace

float rounded(float value, ScaleFormat type) {
  const float within = std::clamp(value, -largest(type), largest(type));
  switch (type) {
    case ScaleFormat::bf16: return numerics::float_from_bf16(numerics::bf16_from_float(within));
    case ScaleFormat::fp16: return numerics::round_to_fp16(within);
    case ScaleFormat::e4m3: return numerics::Fp8E4m3::decode(numerics::Fp8E4m3::encode(within));
    case ScaleFormat::fp32:
    case ScaleFormat::e8m0: break;
  }
  return within;
}

float mean(float a, float b) { return static_cast<float>((double{a} + double{b}) / 2); }

std::int16_t nearest(std::span<const float> ascending, float value) {
  std::size_t low = 0;
  std::size_t high = ascending.size() - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (value > mean(ascending[middle], ascending[middle + 1]))
      low = middle + 1;
    else
      high = middle;
  }
  return static_cast<std::int16_t>(low);
}

Quantizer::Quantizer(const StoredFormat& format)
    : format_(format), largest_(largest_element(format.elements)) {
  if (format.scale.largest > 0.0) largest_ = static_cast<float>(format.scale.largest);
  if (format.elements.kind == ElementKind::minifloat) values_ = magnitudes(format.elements);
  if (format.elements.kind == ElementKind::table) values_ = format.elements.table;
  smallest_scale_ = smallest(format.scale.type);
  least_scale_ = std::max(smallest_scale_, static_cast<float>(format.scale.at_least));
  largest_scale_ = largest_finite_scale(format.scale.type, most_steps(format));
}

float Quantizer::rounded_scale(float scale) const {
  const float near = rounded(std::max(scale, least_scale_), format_.scale.type);
  return std::clamp(near, smallest_scale_, largest_scale_);
}

float Quantizer::power_of_two(float abs_max) const {
  if (abs_max == 0.0F) return 0.0F;
  const int exponent = std::ilogb(abs_max) - std::ilogb(largest_);
  const bool clips = abs_max > std::ldexp(largest_, exponent);
  const bool up = format_.scale.rule == RangeRule::power_of_two_up && clips;
  return std::ldexp(1.0F, std::clamp(exponent + (up ? 1 : 0), -127, 127));
}

float Quantizer::tensor_scale(float abs_max) const {
  constexpr float kSmallest = 0x1p-117F;
  const float scale = std::max(abs_max / (largest_ * numerics::Fp8E4m3::kMaxFinite), kSmallest);
  if (numerics::Fp8E4m3::kMaxFinite * scale * largest_ <= kLargestFloat) return scale;
  return std::nextafter(scale, 0.0F);
}

Range Quantizer::range_of(std::span<const float> values) const {
  const Scale& rule = format_.scale;
  const bool symmetric = rule.zero_point == ZeroPoint::none || rule.rule == RangeRule::abs_max;
  if (values.empty() || rule.rule == RangeRule::given) return completed({0.0F, 0.0F});
  if (rule.rule == RangeRule::quantile)
    return completed(quantile_range(values, rule.quantile, symmetric));
  if (symmetric) {
    const float most = largest_magnitude(values);
    return completed({-most, most});
  }
  const auto [low, high] = std::ranges::minmax(values);
  return completed({low, high});
}

Range Quantizer::completed(const Range& found) const {
  const Scale& rule = format_.scale;
  const auto given = static_cast<float>(rule.value);
  if (rule.rule == RangeRule::given) return {-given, given};
  const Range range{found.low + 0.0F, found.high + 0.0F};  // -0 becomes +0
  if (rule.with_zero) return {std::min(range.low, 0.0F), std::max(range.high, 0.0F)};
  return range;
}

GroupScale Quantizer::scale_of_range(const Range& range, float unit) const {
  const Scale& rule = format_.scale;
  const bool power =
      rule.rule == RangeRule::power_of_two_up || rule.rule == RangeRule::power_of_two_down;
  if (power) return {.scale = rounded_scale(power_of_two(range.high))};
  if (rule.zero_point == ZeroPoint::none)
    return {.scale = rounded_scale(range.high / unit / largest_) * unit};
  const auto top = static_cast<float>(format_.elements.levels - 1);
  const float width = range.high - range.low;
  float scale =
      rounded_scale(std::isfinite(width) ? width / top : range.high / top - range.low / top);
  if (rule.zero_point == ZeroPoint::real) {
    const float origin = rounded(range.low, rule.type);
    while (!std::isfinite(top * scale + origin)) scale = below(scale, rule.type);
    return {scale, origin};
  }
  const float zero = std::clamp(0.0F - range.low / scale, 0.0F, top);
  return {scale, std::clamp(nearest_integer(zero, format_.ties), 0.0F, top)};
}

void Quantizer::scales_of_ranges(std::span<const float> low, std::span<const float> high,
                                 float unit, float* scales, float* zero_points) const {
  for (std::size_t i = 0; i < high.size(); ++i) {
    const GroupScale scale = scale_of_range(completed({low[i], high[i]}), unit);
    scales[i] = scale.scale;
    if (zero_points != nullptr) zero_points[i] = scale.zero_point;
  }
}

GroupScale Quantizer::searched(std::span<const float> values, float unit) const {
  const Scale& rule = format_.scale;
  const Range full = range_of(values);
  GroupScale best;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t step = 0; step < rule.steps; ++step) {
    const double share = rule.steps == 1 ? 0.0 : static_cast<double>(step) / (rule.steps - 1);
    const auto factor = static_cast<float>(1.0 - share * (1.0 - rule.shrink_to));
    const GroupScale group = scale_of_range({factor * full.low, factor * full.high}, unit);
    double error = 0.0;
    for (const float x : values)
      error += std::pow(std::abs(double{value(code(x, group), group)} - double{x}), rule.norm);
    if (step > 0 && error >= least) continue;
    least = error;
    best = group;
  }
  return best;
}

GroupScale Quantizer::scale_of(std::span<const float> values, float unit) const {
  if (format_.scale.rule == RangeRule::search) return searched(values, unit);
  return scale_of_range(range_of(values), unit);
}

std::int16_t Quantizer::integer_code(float value, const GroupScale& group) const {
  constexpr float kBeyondCodes = 1024.0F;
  const auto levels = static_cast<int>(format_.elements.levels);
  const bool real = format_.scale.zero_point == ZeroPoint::real;
  const bool is_signed = format_.scale.zero_point == ZeroPoint::none;
  const float steps = (real ? value - group.zero_point : value) / group.scale;
  const float near = nearest_integer(std::clamp(steps, -kBeyondCodes, kBeyondCodes), format_.ties);
  const int code = static_cast<int>(near) + (real ? 0 : static_cast<int>(group.zero_point));
  const int low = is_signed ? -(levels / 2) : 0;
  return static_cast<std::int16_t>(std::clamp(code, low, low + levels - 1));
}

std::int16_t Quantizer::code(float value, const GroupScale& group) const {
  const Elements& elements = format_.elements;
  if (elements.kind == ElementKind::integer) return integer_code(value, group);
  const float steps = value / group.scale;
  if (elements.kind == ElementKind::table) return nearest(values_, steps);
  const bool negative = std::signbit(steps);
  const std::int16_t magnitude =
      nearest_magnitude(values_, std::abs(steps), negative, format_.ties);
  const int sign = negative ? 1 << (elements.bits - 1) : 0;
  return static_cast<std::int16_t>(magnitude | sign);
}

std::vector<float> Quantizer::numbers() const {
  const Elements& elements = format_.elements;
  const int count = 1 << elements.bits;
  const int magnitude_mask = elements.kind == ElementKind::minifloat ? count / 2 - 1 : count - 1;
  const bool is_signed =
      elements.kind == ElementKind::integer && format_.scale.zero_point == ZeroPoint::none;
  std::vector<float> numbers;
  for (int code = 0; code < count; ++code) {
    const bool used =
        values_.empty() || static_cast<std::size_t>(code & magnitude_mask) < values_.size();
    const int number = is_signed && code >= count / 2 ? code - count : code;
    numbers.push_back(used ? value(static_cast<std::int16_t>(number), {}) : 0.0F);
  }
  return numbers;
}

std::vector<float> Quantizer::thresholds() const {
  std::vector<float> thresholds;
  for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
    const float middle = mean(values_[i], values_[i + 1]);
    const bool up = format_.elements.kind == ElementKind::minifloat &&
                    (format_.ties == Ties::away || i % 2 == 1);
    thresholds.push_back(up ? std::nextafter(middle, 0.0F) : middle);
  }
  return thresholds;
}

float Quantizer::value(std::int16_t code, const GroupScale& group) const {
  const Elements& elements = format_.elements;
  if (elements.kind == ElementKind::table)
    return values_[static_cast<std::size_t>(code)] * group.scale;
  if (elements.kind == ElementKind::minifloat) {
    const int sign = 1 << (elements.bits - 1);
    const float magnitude = values_[static_cast<std::size_t>(code & (sign - 1))];
    return ((code & sign) != 0 ? -magnitude : magnitude) * group.scale;
  }
  if (format_.scale.zero_point == ZeroPoint::real)
    return static_cast<float>(code) * group.scale + group.zero_point;
  return (static_cast<float>(code) - group.zero_point) * group.scale;
}

}  // namespace equarx::stored
