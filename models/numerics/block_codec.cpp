#include "models/numerics/block_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "models/numerics/bfloat16.hpp"
#include "models/numerics/element_codecs.hpp"

namespace equarx::numerics {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::int32_t kMagnitudeMask = std::numeric_limits<std::int32_t>::max();

// Where the scale of the i-th element of a run comes from. A run is as long as one of these holds.
struct LaneScales {  // strided: neighbours have neighbouring scales
  const float* scales;
  float operator[](std::size_t i) const { return scales[i]; }
};
struct SharedScale {  // contiguous: the whole run has one scale
  float scale;
  float operator[](std::size_t) const { return scale; }
};
struct NoScale {};

template <class Scales>
float quotient(float value, const Scales& scales, std::size_t i) {
  const float ratio = value / scales[i];
  return ratio == ratio ? ratio : 0.0F;
}
inline float quotient(float value, NoScale, std::size_t) { return value; }

template <class Scales>
float product(float value, const Scales& scales, std::size_t i) {
  return value * scales[i];
}
inline float product(float value, NoScale, std::size_t) { return value; }

// Calls visit(offset, length, group) for each run of elements that stays inside one register
// (strided; group is that of its first element) or one block (contiguous).
template <class Visit>
void visit_groups(const BlockFormat& format, std::size_t first, std::size_t count, Visit visit) {
  const std::size_t period =
      format.layout == ScaleLayout::strided ? kRegisterElements : format.block;
  std::size_t place = first % period;
  std::size_t block = first / period;
  for (std::size_t done = 0; done < count; place = 0, ++block) {
    const std::size_t length = std::min(period - place, count - done);
    visit(done, length, format.layout == ScaleLayout::strided ? place : block);
    done += length;
  }
}

// As visit_groups, but gives visit the scales themselves.
template <class Visit>
void visit_scales(const BlockFormat& format, std::size_t first, std::size_t count,
                  std::span<const float> scales, Visit visit) {
  if (!format.scaled) {
    visit(std::size_t{0}, count, NoScale{});
  } else if (format.layout == ScaleLayout::strided) {
    visit_groups(format, first, count, [&](std::size_t done, std::size_t length, std::size_t lane) {
      visit(done, length, LaneScales{scales.data() + lane});
    });
  } else {
    visit_groups(format, first, count,
                 [&](std::size_t done, std::size_t length, std::size_t block) {
                   visit(done, length, SharedScale{scales[block]});
                 });
  }
}

// Calls act with the element format as a type.
template <class Act>
void with_element(ElementFormat format, Act act) {
  switch (format) {
    case ElementFormat::fp32: return act(Fp32Element{});
    case ElementFormat::bf16: return act(Bf16Element{});
    case ElementFormat::int8: return act(Int8Element{});
    case ElementFormat::fp8_e4m3: return act(Fp8E4m3Element{});
    case ElementFormat::fp8_e5m2: return act(Fp8E5m2Element{});
  }
}

template <class Code>
Code load(const std::byte* bytes, std::size_t i) {
  Code code;
  std::memcpy(&code, bytes + i * sizeof(Code), sizeof(Code));
  return code;
}

template <class Code>
void store(Code code, std::byte* bytes, std::size_t i) {
  std::memcpy(bytes + i * sizeof(Code), &code, sizeof(Code));
}

// Among floats without a sign, the order of their bits is the order of their values, and NaN is
// above Inf: an integer maximum is one that does not lose NaN.
inline std::int32_t magnitude_bits(float value) {
  return std::bit_cast<std::int32_t>(value) & kMagnitudeMask;
}

void raise_lanes(const float* values, std::size_t count, float* absmax) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::max(magnitude_bits(values[i]), magnitude_bits(absmax[i]));
    absmax[i] = std::bit_cast<float>(bits);
  }
}

void raise_one(const float* values, std::size_t count, float& absmax) {
  std::int32_t bits = magnitude_bits(absmax);
  for (std::size_t i = 0; i < count; ++i) bits = std::max(bits, magnitude_bits(values[i]));
  absmax = std::bit_cast<float>(bits);
}

float scale_for(float absmax, float max_finite) {
  if (absmax == 0.0F) return 0.0F;
  if (!std::isfinite(absmax)) return std::numeric_limits<float>::quiet_NaN();
  return std::max(absmax / max_finite, std::numeric_limits<float>::min());
}

// Both step back from a scale that was rounded up so far that the largest code would decode to Inf.
float fp32_scale(float scale, float max_finite) {
  return std::isinf(scale * max_finite) ? std::nextafter(scale, 0.0F) : scale;
}

std::uint16_t bf16_scale(float scale, float max_finite) {
  const std::uint16_t code = bf16_from_float(scale);
  return std::isinf(float_from_bf16(code) * max_finite) ? code - 1 : code;
}

template <class Element, class Scales>
void count_run(const float* values, std::size_t length, const Scales& scales,
               QuantizeCounts& counts) {
  for (std::size_t i = 0; i < length; ++i) {
    const float ratio = quotient(values[i], scales, i);
    const float decoded = product(Element::decode(Element::encode(ratio)), scales, i);
    // Without a scale nothing else would tell that a format without NaN or Inf lost one.
    const bool lost = std::is_same_v<Scales, NoScale> && !std::isfinite(values[i]);
    counts.clipped += std::isfinite(ratio) && std::abs(ratio) >= Element::kClipThreshold;
    counts.flushed += values[i] != 0.0F && decoded == 0.0F && !lost;
    counts.non_finite += lost || !std::isfinite(decoded);
  }
  counts.elements += length;
}

void check_equal(const char* what, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw std::invalid_argument(std::string(what) + ": got " + std::to_string(got) + ", needs " +
                                std::to_string(expected));
  }
}

void check_format(const BlockFormat& format) {
  const bool cast = format.element == ElementFormat::fp32 || format.element == ElementFormat::bf16;
  if (format.scaled && cast) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " with scales: use it without, or use int8 or an FP8 format");
  }
  scale_count(format, 0);  // throws for blocks of 0 elements
}

}  // namespace

QuantizeCounts& QuantizeCounts::operator+=(const QuantizeCounts& other) {
  elements += other.elements;
  clipped += other.clipped;
  flushed += other.flushed;
  non_finite += other.non_finite;
  return *this;
}

BlockCodec::BlockCodec(BlockFormat format) : format_(format) { check_format(format_); }

void BlockCodec::check_scales(std::size_t scales, std::size_t first, std::size_t elements) const {
  // The length of the minishard is not known here, only that it reaches to the end of this piece.
  const std::size_t needed = scale_count(format_, first + elements);
  const bool longest = !format_.scaled || format_.layout == ScaleLayout::strided;
  const std::size_t allowed = !format_.scaled ? 0 : kRegisterElements;
  if (scales < needed || (longest && scales > allowed)) {
    throw std::invalid_argument("scales: got " + std::to_string(scales) + ", elements up to " +
                                std::to_string(first + elements) + " of a minishard need " +
                                std::to_string(needed));
  }
}

void BlockCodec::check_payload(std::size_t bytes, std::size_t elements) const {
  check_equal("bytes of payload", bytes, payload_bytes(format_, elements));
}

void BlockCodec::find_absmax(std::span<const float> values, std::size_t first,
                             std::span<float> absmax) const {
  check_scales(absmax.size(), first, values.size());
  if (!format_.scaled) return;
  const bool strided = format_.layout == ScaleLayout::strided;
  visit_groups(format_, first, values.size(),
               [&](std::size_t done, std::size_t length, std::size_t group) {
                 if (strided) {
                   raise_lanes(values.data() + done, length, absmax.data() + group);
                 } else {
                   raise_one(values.data() + done, length, absmax[group]);
                 }
               });
}

void BlockCodec::encode_scales(std::span<const float> absmax, std::span<std::byte> bytes) const {
  check_equal("bytes of scales", bytes.size(), absmax.size() * scale_bytes(format_.scale));
  with_element(format_.element, [&](auto element) {
    for (std::size_t g = 0; g < absmax.size(); ++g) {
      constexpr float kMaxFinite = decltype(element)::kMaxFinite;
      const float scale = scale_for(absmax[g], kMaxFinite);
      if (format_.scale == ScaleFormat::bf16) {
        store(bf16_scale(scale, kMaxFinite), bytes.data(), g);
      } else {
        store(fp32_scale(scale, kMaxFinite), bytes.data(), g);
      }
    }
  });
}

void BlockCodec::decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const {
  check_equal("bytes of scales", bytes.size(), scales.size() * scale_bytes(format_.scale));
  for (std::size_t g = 0; g < scales.size(); ++g) {
    scales[g] = format_.scale == ScaleFormat::bf16
                    ? float_from_bf16(load<std::uint16_t>(bytes.data(), g))
                    : load<float>(bytes.data(), g);
  }
}

void BlockCodec::quantize(std::span<const float> values, std::size_t first,
                          std::span<const float> scales, std::span<std::byte> payload) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  with_element(format_.element, [&](auto element) {
    using Element = decltype(element);
    visit_scales(format_, first, values.size(), scales,
                 [&](std::size_t done, std::size_t length, auto run_scales) {
                   const float* from = values.data() + done;
                   std::byte* to = payload.data() + done * sizeof(typename Element::Code);
                   for (std::size_t i = 0; i < length; ++i) {
                     store(Element::encode(quotient(from[i], run_scales, i)), to, i);
                   }
                 });
  });
}

void BlockCodec::dequantize(std::span<const std::byte> payload, std::size_t first,
                            std::span<const float> scales, std::span<float> values) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  with_element(format_.element, [&](auto element) {
    using Code = typename decltype(element)::Code;
    visit_scales(format_, first, values.size(), scales,
                 [&](std::size_t done, std::size_t length, auto run_scales) {
                   const std::byte* from = payload.data() + done * sizeof(Code);
                   float* to = values.data() + done;
                   for (std::size_t i = 0; i < length; ++i) {
                     to[i] = product(element.decode(load<Code>(from, i)), run_scales, i);
                   }
                 });
  });
}

void BlockCodec::dequantize_add(std::span<const std::byte> payload, std::size_t first,
                                std::span<const float> scales, std::span<const float> local,
                                std::span<float> sums) const {
  check_scales(scales.size(), first, sums.size());
  check_payload(payload.size(), sums.size());
  check_equal("local values", local.size(), sums.size());
  // Two loops, because a vectorised loop over two pointers first checks that they do not overlap.
  const bool in_place = local.data() == sums.data();
  with_element(format_.element, [&](auto element) {
    using Code = typename decltype(element)::Code;
    visit_scales(format_, first, sums.size(), scales,
                 [&](std::size_t done, std::size_t length, auto run_scales) {
                   const std::byte* from = payload.data() + done * sizeof(Code);
                   const float* add = local.data() + done;
                   float* to = sums.data() + done;
                   if (in_place) {
                     for (std::size_t i = 0; i < length; ++i) {
                       to[i] += product(element.decode(load<Code>(from, i)), run_scales, i);
                     }
                   } else {
                     for (std::size_t i = 0; i < length; ++i) {
                       to[i] = add[i] + product(element.decode(load<Code>(from, i)), run_scales, i);
                     }
                   }
                 });
  });
}

QuantizeCounts BlockCodec::count(std::span<const float> values, std::size_t first,
                                 std::span<const float> scales) const {
  check_scales(scales.size(), first, values.size());
  QuantizeCounts counts;
  with_element(format_.element, [&](auto element) {
    visit_scales(format_, first, values.size(), scales,
                 [&](std::size_t done, std::size_t length, auto run_scales) {
                   count_run<decltype(element)>(values.data() + done, length, run_scales, counts);
                 });
  });
  return counts;
}

}  // namespace equarx::numerics
