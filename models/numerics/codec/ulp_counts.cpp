#include "models/numerics/codec/ulp_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/round_values.hpp"

namespace equarx::numerics {
namespace {

constexpr std::size_t kBitsPerByte = 8;
/// Pairs that are counted together.
constexpr std::size_t kBlock = 256;

void count_nonfinite(float value, float reference, UlpCounts& counts) {
  const bool alike = (std::isnan(value) && std::isnan(reference)) || value == reference;
  ++(alike ? counts.equal_nonfinite : counts.nonfinite);
}

bool all_finite(std::span<const float> values) {
  bool finite = true;
  for (const float value : values)  // without an exit, so that it is vectorized
    finite = finite && std::fabs(value) <= std::numeric_limits<float>::max();
  return finite;
}

/// Position of a code of sign and magnitude among all codes of its type; 0 for both zeros.
template <class Code>
std::int64_t position(Code code) {
  constexpr auto kSign = static_cast<Code>(Code{1} << (sizeof(Code) * kBitsPerByte - 1));
  const auto magnitude = static_cast<std::int64_t>(code & static_cast<Code>(kSign - 1));
  return (code & kSign) != 0 ? -magnitude : magnitude;
}

/// Distances of codes, at most 2^32; the widest code has one bit more than an int32.
template <class Code>
using Distance =
    std::conditional_t<sizeof(Code) == sizeof(std::uint32_t), std::int64_t, std::int32_t>;

/// Counts finite pairs by their distance.
template <class Code>
void count_distances(std::span<const Distance<Code>> distances, UlpCounts& counts) {
  // By the largest distance of each class but the last.
  constexpr std::array<std::int32_t, UlpCounts::kClasses - 1> kLargest = {0, 1, 2, 4, 8};
  std::array<std::uint32_t, UlpCounts::kClasses - 1> up_to{};
  Distance<Code> most = 0;
  for (std::size_t k = 0; k < kLargest.size(); ++k)
    for (const Distance<Code> distance : distances) up_to[k] += distance <= kLargest[k] ? 1 : 0;
  for (const Distance<Code> distance : distances) most = std::max(most, distance);
  std::uint64_t before = 0;
  for (std::size_t k = 0; k < kLargest.size(); ++k) {
    counts.by_distance[k] += up_to[k] - before;
    before = up_to[k];
  }
  counts.by_distance.back() += distances.size() - before;
  counts.most = std::max(counts.most, static_cast<std::uint64_t>(most));
}

/// Counts a block of at most kBlock pairs.
template <class Code>
void count_block(std::span<const float> values, std::span<const float> reference,
                 std::span<const std::byte> codes, std::span<const std::byte> others,
                 UlpCounts& counts) {
  std::array<Code, kBlock> ones;
  std::array<Code, kBlock> twos;
  std::memcpy(ones.data(), codes.data(), codes.size());
  std::memcpy(twos.data(), others.data(), others.size());
  std::array<Distance<Code>, kBlock> distances;
  std::size_t finite = 0;
  if (all_finite(values) && all_finite(reference)) {
    for (; finite < values.size(); ++finite)
      distances[finite] =
          static_cast<Distance<Code>>(std::abs(position(ones[finite]) - position(twos[finite])));
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(values[i]) && std::isfinite(reference[i]))
        distances[finite++] =
            static_cast<Distance<Code>>(std::abs(position(ones[i]) - position(twos[i])));
      else
        count_nonfinite(values[i], reference[i], counts);
  }
  count_distances<Code>(std::span(distances).first(finite), counts);
}

/// Nearest FP32 value towards zero, with the last bit set if that is not exact ("round to odd").
float sticky(double value) {
  auto rounded = static_cast<float>(value);
  if (double{rounded} == value || !std::isfinite(value)) return rounded;
  if (!std::isfinite(rounded)) return std::copysign(std::numeric_limits<float>::max(), rounded);
  if (std::fabs(double{rounded}) > std::fabs(value)) rounded = std::nextafter(rounded, 0.0F);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) | 1U);
}

}  // namespace

double UlpCounts::differing_share() const {
  return elements == 0 ? 0.0 : static_cast<double>(differing()) / static_cast<double>(elements);
}

UlpCounts& UlpCounts::operator+=(const UlpCounts& other) {
  elements += other.elements;
  for (std::size_t i = 0; i < kClasses; ++i) by_distance[i] += other.by_distance[i];
  nonfinite += other.nonfinite;
  equal_nonfinite += other.equal_nonfinite;
  most = std::max(most, other.most);
  return *this;
}

UlpCounts ulp_counts(ElementFormat type, std::span<const float> values,
                     std::span<const float> reference) {
  if (values.size() != reference.size())
    throw std::invalid_argument("the compared values differ in length");
  const BlockCodec codec({.element = type});
  const std::size_t bytes = element_bits(type) / kBitsPerByte;
  std::vector<std::byte> codes(values.size() * bytes);
  std::vector<std::byte> others(values.size() * bytes);
  codec.quantize(values, 0, {}, codes);
  codec.quantize(reference, 0, {}, others);
  UlpCounts counts;
  counts.elements = values.size();
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    const std::size_t size = std::min(kBlock, values.size() - first);
    const auto count = [&]<class Code>(Code) {
      count_block<Code>(values.subspan(first, size), reference.subspan(first, size),
                        std::span(codes).subspan(first * sizeof(Code), size * sizeof(Code)),
                        std::span(others).subspan(first * sizeof(Code), size * sizeof(Code)),
                        counts);
    };
    if (bytes == sizeof(std::uint32_t))
      count(std::uint32_t{});
    else if (bytes == sizeof(std::uint16_t))
      count(std::uint16_t{});
    else
      count(std::uint8_t{});
  }
  return counts;
}

void round_once(ElementFormat type, std::span<const double> exact, std::span<float> rounded) {
  if (exact.size() != rounded.size())
    throw std::invalid_argument("the rounded values differ in length");
  if (type == ElementFormat::fp32) {
    std::ranges::transform(exact, rounded.begin(),
                           [](double value) { return static_cast<float>(value); });
    return;
  }
  std::ranges::transform(exact, rounded.begin(), sticky);
  round_to_element(type, rounded);
}

}  // namespace equarx::numerics
