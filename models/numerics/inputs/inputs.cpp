#include "models/numerics/inputs/inputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "models/numerics/random/philox.hpp"

namespace equarx::numerics {

namespace {

// Everything is made a block at a time, in loops over arrays that stay in the first-level cache and
// that compilers vectorise. Constants of the polynomials: Moshier, Cephes library, single precision
// (logf, sinf, cosf, expf), relative errors about 2^-23.
constexpr std::size_t kCounters = 64;          // in one batch
constexpr std::size_t kBlock = 4 * kCounters;  // elements in one block
using Words = std::array<std::uint32_t, kCounters>;
using Batch = std::array<Words, 4>;
using Block = std::span<float, kBlock>;

constexpr int kWordBits = 32;
constexpr int kMantissaBits = 23;

void fill_batch(std::uint64_t seed, std::uint32_t rank, std::uint64_t batch, Batch& words) {
  const PhiloxKey key{static_cast<std::uint32_t>(seed),
                      static_cast<std::uint32_t>(seed >> kWordBits)};
  // kCounters divides 2^32, so the upper word is one for the whole batch.
  const std::uint64_t first = batch * kCounters;
  const auto low = static_cast<std::uint32_t>(first);
  const auto high = static_cast<std::uint32_t>(first >> kWordBits);
  for (std::uint32_t i = 0; i < kCounters; ++i) {
    const PhiloxCounter random = philox4x32({low + i, high, rank, 0}, key);
    words[0][i] = random[0];
    words[1][i] = random[1];
    words[2][i] = random[2];
    words[3][i] = random[3];
  }
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
  // log(2) in two parts, the first of which is exact when multiplied by an exponent.
  constexpr float kLog2High = 0.693359375F;
  constexpr float kLog2Low = -2.12194440e-4F;
  return ((p * t * t2 + e * kLog2Low) - 0.5F * t2 + t) + e * kLog2High;
}

struct SinCos {
  float sine;
  float cosine;
};

// Of the angle 2 pi word / 2^32.
inline SinCos sincos_of(std::uint32_t word) {
  // Nearest quarter turn, and what is left: within an eighth of a turn.
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
  // Quarter turns exchange the two on odd counts; signs follow the quadrant.
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
  // The nearest integer, by the addition of a number whose last bit is worth 1.
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

// Box and Muller (1958): two uniforms make two independent normals.
void box_muller(const Words& radii, const Words& angles, float* out) {
  for (std::size_t i = 0; i < kCounters; ++i) {
    const float radius = std::sqrt(-2.0F * log_of(unit_interval(radii[i])));
    const SinCos angle = sincos_of(angles[i]);
    out[i] = radius * angle.cosine;
    out[kCounters + i] = radius * angle.sine;
  }
}

// Bailey, "Polar generation of random variates with the t-distribution", Math. Comp. 62 (1994):
// with uniform u, v, t = sqrt(d (u^(-2/d) - 1)) cos(2 pi v) has d degrees of freedom, and variance
// d / (d - 2). For d = 3, scaled to variance 1, the factor d cancels.
void student_t3(const Words& radii, const Words& angles, float* out) {
  for (std::size_t i = 0; i < kCounters; ++i) {
    const float power = exp_of(log_of(unit_interval(radii[i])) * (-2.0F / 3.0F));
    const float radius = std::sqrt(std::max(power - 1.0F, 0.0F));
    out[i] = radius * sincos_of(angles[i]).cosine;
  }
}

void uniform(const Words& words, float* out) {
  constexpr int kUnused = kWordBits - kMantissaBits - 1;
  for (std::size_t i = 0; i < kCounters; ++i) {
    out[i] = static_cast<float>(static_cast<std::int32_t>(words[i]) >> kUnused) * 0x1p-23F;
  }
}

void fill_block(const InputSpec& spec, std::uint32_t rank, std::uint64_t block, Block out) {
  Batch words;
  switch (spec.distribution) {
    case Distribution::normal:
      fill_batch(spec.seed, rank, block, words);
      box_muller(words[0], words[1], out.data());
      box_muller(words[2], words[3], out.data() + 2 * kCounters);
      return;
    case Distribution::uniform:
      fill_batch(spec.seed, rank, block, words);
      for (std::size_t w = 0; w < words.size(); ++w) uniform(words[w], out.data() + w * kCounters);
      return;
    case Distribution::heavy_tailed:  // needs two words an element, so two batches
      for (std::size_t half = 0; half < 2; ++half) {
        fill_batch(spec.seed, rank, 2 * block + half, words);
        student_t3(words[0], words[1], out.data() + 2 * half * kCounters);
        student_t3(words[2], words[3], out.data() + (2 * half + 1) * kCounters);
      }
      return;
  }
}

}  // namespace

void generate(const InputSpec& spec, std::uint32_t rank, std::uint64_t first_element,
              std::span<float> out) {
  const std::uint32_t source = spec.identical_ranks ? 0 : rank;
  std::uint64_t block = first_element / kBlock;
  std::size_t skip = first_element % kBlock;
  for (std::size_t done = 0; done < out.size(); skip = 0, ++block) {
    const std::size_t length = std::min(kBlock - skip, out.size() - done);
    if (length == kBlock) {
      fill_block(spec, source, block, Block(out.data() + done, kBlock));
    } else {
      std::array<float, kBlock> whole;
      fill_block(spec, source, block, whole);
      std::copy_n(whole.data() + skip, length, out.data() + done);
    }
    done += length;
  }
}

}  // namespace equarx::numerics
