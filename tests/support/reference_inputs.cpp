#include "tests/support/reference_inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "models/numerics/random/philox.hpp"

namespace equarx::testing {

using namespace numerics;

namespace {

constexpr int kWordBits = 32;
constexpr int kMantissaBits = 23;

// Number of counters per block; the first, second, third and fourth words of all of them follow
// each other.
constexpr std::uint64_t kCounters = 64;

PhiloxCounter words_of(const InputSpec& spec, std::uint32_t rank, std::uint64_t counter) {
  return philox4x32({static_cast<std::uint32_t>(counter),
                     static_cast<std::uint32_t>(counter >> kWordBits), rank, 0},
                    philox_key(spec.seed));
}

// (0, 1], at least 2^-32. From 31 bits, because SSE2 converts signed integers only.
inline float unit_interval(std::uint32_t word) {
  return (static_cast<float>(static_cast<std::int32_t>(word >> 1)) + 0.5F) * 0x1p-31F;
}

// Natural logarithm of a positive normal number.
inline float log_of(float x) {
  // Splits x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)).
  constexpr std::int32_t kSqrtHalfBits = 0x3f3504f3;
  const std::int32_t offset = std::bit_cast<std::int32_t>(x) - kSqrtHalfBits;
  const std::int32_t exponent = offset >> kMantissaBits;
  const float m = std::bit_cast<float>((offset & ((1 << kMantissaBits) - 1)) + kSqrtHalfBits);
  const float e = static_cast<float>(exponent);
  const float t = m - 1.0F;
  const float t2 = t * t;
  float p = 7.0376836292E-2F;
  p = p * t - 1.1514610310E-1F;
  p = p * t + 1.1676998740E-1F;
  p = p * t - 1.2420140846E-1F;
  p = p * t + 1.4249322787E-1F;
  p = p * t - 1.6668057665E-1F;
  p = p * t + 2.0000714765E-1F;
  p = p * t - 2.4999993993E-1F;
  p = p * t + 3.3333331174E-1F;
  // log(2) in two parts; the product of the first with any exponent is exact.
  constexpr float kLog2High = 0.693359375F;
  constexpr float kLog2Low = -2.12194440e-4F;
  return ((p * t * t2 + e * kLog2Low) - 0.5F * t2 + t) + e * kLog2High;
}

struct SinCos {
  float sine;
  float cosine;
};

// Cosine and sine of the angle 2 pi word / 2^32.
inline SinCos sincos_of(std::uint32_t word) {
  // Nearest quarter turn, and the remainder: within an eighth of a turn.
  constexpr std::uint32_t kEighth = 1U << (kWordBits - 3);
  const std::uint32_t quarter = (word + kEighth) >> (kWordBits - 2);
  const auto rest = static_cast<std::int32_t>(word - (quarter << (kWordBits - 2)));
  const float x = static_cast<float>(rest) * (std::numbers::pi_v<float> * 0x1p-31F);
  const float x2 = x * x;
  const float s =
      ((-1.9515295891E-4F * x2 + 8.3321608736E-3F) * x2 - 1.6666654611E-1F) * x2 * x + x;
  const float c =
      ((2.443315711809948E-5F * x2 - 1.388731625493765E-3F) * x2 + 4.166664568298827E-2F) * x2 *
          x2 -
      0.5F * x2 + 1.0F;
  // An odd number of quarter turns swaps the two; signs follow the quadrant.
  const std::uint32_t exchange = 0U - (quarter & 1U);
  const auto s_bits = std::bit_cast<std::uint32_t>(s);
  const auto c_bits = std::bit_cast<std::uint32_t>(c);
  constexpr int kToSign = kWordBits - 2;
  const std::uint32_t sine_sign = (quarter & 2U) << kToSign;
  const std::uint32_t cosine_sign = ((quarter + 1U) & 2U) << kToSign;
  const std::uint32_t sine = (s_bits & ~exchange) | (c_bits & exchange);
  const std::uint32_t cosine = (c_bits & ~exchange) | (s_bits & exchange);
  return {std::bit_cast<float>(sine ^ sine_sign), std::bit_cast<float>(cosine ^ cosine_sign)};
}

// e^x for x in [0, 80].
inline float exp_of(float x) {
  // Nearest integer, by adding a number whose last bit has the value 1.
  constexpr float kAligned = 0x1.8p23F;
  const float shifted = x * std::numbers::log2e_v<float> + kAligned;
  const float n = shifted - kAligned;
  const std::int32_t power =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kAligned);
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500E-4F;
  p = p * r + 1.3981999507E-3F;
  p = p * r + 8.3334519073E-3F;
  p = p * r + 4.1665795894E-2F;
  p = p * r + 1.6666665459E-1F;
  p = p * r + 5.0000001201E-1F;
  const float e = p * r * r + r + 1.0F;
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(e) + (power << kMantissaBits));
}

// Elements 0 to 63 of a block are the cosines of words 0 and 1 of its counters, 64 to 127 the
// sines, and so on with words 2 and 3.
float normal(const InputSpec& spec, std::uint32_t rank, std::uint64_t block, std::uint64_t place) {
  const PhiloxCounter words = words_of(spec, rank, block * kCounters + place % kCounters);
  const std::size_t pair = place / (2 * kCounters);
  const float radius = std::sqrt(-2.0F * log_of(unit_interval(words[2 * pair])));
  const SinCos angle = sincos_of(words[2 * pair + 1]);
  return radius * (place / kCounters % 2 == 0 ? angle.cosine : angle.sine);
}

float uniform(const InputSpec& spec, std::uint32_t rank, std::uint64_t block, std::uint64_t place) {
  const PhiloxCounter words = words_of(spec, rank, block * kCounters + place % kCounters);
  constexpr int kUnused = kWordBits - kMantissaBits - 1;
  return static_cast<float>(static_cast<std::int32_t>(words[place / kCounters]) >> kUnused) *
         0x1p-23F;
}

// A block consists of two batches of counters, of two elements each.
float student_t3(const InputSpec& spec, std::uint32_t rank, std::uint64_t block,
                 std::uint64_t place) {
  const std::uint64_t batch = 2 * block + place / (2 * kCounters);
  const PhiloxCounter words = words_of(spec, rank, batch * kCounters + place % kCounters);
  const std::size_t pair = place / kCounters % 2;
  const float power = exp_of(log_of(unit_interval(words[2 * pair])) * (-2.0F / 3.0F));
  return std::sqrt(std::max(power - 1.0F, 0.0F)) * sincos_of(words[2 * pair + 1]).cosine;
}

}  // namespace

float reference_input(const InputSpec& spec, std::uint32_t rank, std::uint64_t element) {
  const std::uint32_t source = spec.identical_ranks ? 0 : rank;
  const std::uint64_t block = element / (4 * kCounters);
  const std::uint64_t place = element % (4 * kCounters);
  switch (spec.distribution) {
    case Distribution::normal: return normal(spec, source, block, place);
    case Distribution::uniform: return uniform(spec, source, block, place);
    case Distribution::heavy_tailed: return student_t3(spec, source, block, place);
  }
  return 0.0F;
}

}  // namespace equarx::testing
