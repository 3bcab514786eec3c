#include "models/numerics/codec/block_codec.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "models/numerics/codec/exponents.hpp"
#include "models/numerics/codec/quickreduce.hpp"
#include "models/numerics/codec/reciprocal_scale.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/numerics/kernels/kernels.hpp"

namespace equarx::numerics {

namespace {

void check_equal(const char* what, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw std::invalid_argument(std::string(what) + ": got " + std::to_string(got) + ", needs " +
                                std::to_string(expected));
  }
}

bool may_be_scaled(ElementFormat format) {
  return format != ElementFormat::fp32 && format != ElementFormat::bf16 &&
         format != ElementFormat::fp16;
}

bool is_int8_or_fp8(ElementFormat format) {
  return format == ElementFormat::int8 || format == ElementFormat::fp8_e4m3 ||
         format == ElementFormat::fp8_e5m2 || format == ElementFormat::fp8_e4m3fnuz ||
         format == ElementFormat::fp8_e5m2fnuz;
}

bool may_be_plain(ElementFormat format) {
  return !may_be_scaled(format) || is_int8_or_fp8(format) || format == ElementFormat::exp8;
}

bool may_be_stochastic(const BlockFormat& format) {
  return is_int8_or_fp8(format.element) || format.rule == ScaleRule::sdp4bit;
}

/// Accepts exactly the published QuickReduce formats, and their scales and layout nowhere else.
void check_quickreduce(const BlockFormat& format) {
  const bool fp16 = format.scale == ScaleFormat::fp16;
  const bool paired = format.layout == ScaleLayout::paired;
  if (format.rule != ScaleRule::quickreduce) {
    if (fp16 || paired)
      throw std::invalid_argument(
          "fp16 scales and the paired layout are supported for quickreduce formats only");
    return;
  }
  if (!format.scaled || !fp16 || !paired || format.block != kQuickReduceBlock ||
      format.rounding != Rounding::nearest || format.tensor_scale)
    throw std::invalid_argument(
        "a quickreduce format requires fp16 scales of 32 paired elements and rounding to nearest");
  switch (format.element) {
    case ElementFormat::int8:
    case ElementFormat::int6:
    case ElementFormat::int4:
    case ElementFormat::fp8_e4m3fnuz: return;
    default:
      throw std::invalid_argument("QuickReduce supports int8, int6, int4 and fp8-e4m3fnuz only");
  }
}

/// Checks formats with one scale for all ranks, whose codes are sent and added directly.
void check_shared(const BlockFormat& format) {
  if (!has_shared_scale(format)) return;
  if (format.scaled || format.tensor_scale || format.rounding != Rounding::nearest)
    throw std::invalid_argument(
        "a shared scale excludes scales of groups and stochastic rounding of sums");
  const bool qsgd = format.element == ElementFormat::int8 || format.element == ElementFormat::exp8;
  const bool fp8 =
      format.element == ElementFormat::fp8_e4m3 || format.element == ElementFormat::fp8_e5m2;
  if (format.rule == ScaleRule::global_qsgd ? !qsgd : !fp8)
    throw std::invalid_argument(
        "FP8-LM supports fp8-e4m3 and fp8-e5m2 only, and Global-QSGD int8 and exp8");
  if (!(format.mu.value > 0.0F && format.mu.value <= std::numeric_limits<float>::max()))
    throw std::invalid_argument("mu must be a number above 0");
}

void check_format(const BlockFormat& format) {
  if (format.element == ElementFormat::exp8 && format.rule != ScaleRule::global_qsgd)
    throw std::invalid_argument("exp8 requires Global-QSGD's scale, as its values are below 1");
  check_quickreduce(format);
  check_shared(format);
  reciprocal_scale::check(format);
  if (format.scaled && !may_be_scaled(format.element)) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " with scales is not supported; drop them, or use int8 or FP8");
  }
  if (!format.scaled && !may_be_plain(format.element)) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " without scales is not supported: its range is too small");
  }
  if (format.tensor_scale && (!format.scaled || format.scale != ScaleFormat::e4m3)) {
    throw std::invalid_argument("a tensor scale requires e4m3 scales, as in nvfp4");
  }
  if (format.rounding == Rounding::stochastic && !may_be_stochastic(format)) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " with stochastic rounding is not supported; use int8 or FP8");
  }
  scale_count(format, 0);  // throws for blocks of 0 elements
}

}  // namespace

BlockCodec::BlockCodec(BlockFormat format) : format_(format) { check_format(format_); }

bool BlockCodec::has_reciprocal_scale() const { return reciprocal_scale::has_rule(format_); }

void BlockCodec::check_scales(std::size_t scales, std::size_t first, std::size_t elements) const {
  // The length of the minishard is unknown here; it extends at least to the end of this piece.
  const std::size_t needed = scale_count(format_, first + elements);
  const bool longest = !format_.scaled || format_.layout == ScaleLayout::strided;
  const std::size_t allowed = !format_.scaled ? 0 : kRegisterElements;
  if (scales < needed || (longest && scales > allowed)) {
    throw std::invalid_argument("scales: got " + std::to_string(scales) + ", elements up to " +
                                std::to_string(first + elements) + " of a minishard need " +
                                std::to_string(needed));
  }
}

RoundingKey BlockCodec::checked(const std::optional<RoundingKey>& key) const {
  if (format_.rounding == Rounding::nearest) return {};
  if (!key)
    throw std::invalid_argument("stochastic rounding without a key: give seed, rank, hop, element");
  return *key;
}

void BlockCodec::check_payload(std::size_t bytes, std::size_t elements) const {
  check_equal("bytes of payload", bytes, payload_bytes(format_, elements));
}

void BlockCodec::find_amax(std::span<const float> values, std::size_t first,
                           std::span<float> amax) const {
  check_scales(amax.size(), first, values.size());
  if (is_quickreduce()) return quickreduce::find_extrema(values, first, amax);
  if (has_reciprocal_scale()) return reciprocal_scale::find_amax(format_, values, first, amax);
  if (format_.scaled) kernels::find_amax({format_, first}, values, amax.data());
}

void BlockCodec::encode_scales(std::span<const float> amax, std::span<std::byte> bytes,
                               float elsewhere) const {
  check_equal("bytes of scales", bytes.size(), scales_bytes(format_, amax.size()));
  if (!(elsewhere >= 0.0F && elsewhere <= std::numeric_limits<float>::max()))
    throw std::invalid_argument("amax elsewhere: got " + std::to_string(elsewhere) +
                                ", needs a finite number >= 0");
  if (!format_.scaled) return;
  if (is_quickreduce()) return quickreduce::encode_scales(format_.element, amax, bytes);
  if (has_reciprocal_scale()) return reciprocal_scale::encode_scales(format_, amax, bytes);
  kernels::encode_scales(format_, amax, elsewhere, bytes.data());
}

void BlockCodec::decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const {
  check_equal("bytes of scales", bytes.size(), scales_bytes(format_, scales.size()));
  if (is_quickreduce()) return quickreduce::decode_scales(bytes, scales);
  kernels::decode_scales(format_, bytes.data(), scales);
}

void BlockCodec::quantize(std::span<const float> values, std::size_t first,
                          std::span<const float> scales, std::span<std::byte> payload,
                          const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  if (is_quickreduce())
    return quickreduce::quantize(format_.element, values, first, scales, payload);
  if (adds_by_code(format_)) return exponents::store(values, payload);
  if (has_reciprocal_scale())
    return reciprocal_scale::quantize(format_, values, first, scales, payload, checked(key));
  if (format_.rule == ScaleRule::global_qsgd) return store_wrapped(values, payload);
  kernels::quantize({format_, first, scales.data(), checked(key)}, values, payload.data());
}

void BlockCodec::dequantize(std::span<const std::byte> payload, std::size_t first,
                            std::span<const float> scales, std::span<float> values) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  if (is_quickreduce())
    return quickreduce::dequantize(format_.element, payload, first, scales, values);
  if (adds_by_code(format_)) return exponents::load(payload, values);
  if (has_reciprocal_scale())
    return reciprocal_scale::dequantize(format_, payload, first, scales, values);
  kernels::dequantize({format_, first, scales.data()}, payload.data(), values);
}

void BlockCodec::dequantize_add(std::span<const std::byte> payload, std::size_t first,
                                std::span<const float> scales, std::span<const float> local,
                                std::span<float> sums) const {
  add_to(payload, first, scales, local, sums, nullptr);
}

void BlockCodec::dequantize_add_amax(std::span<const std::byte> payload, std::size_t first,
                                     std::span<const float> scales, std::span<const float> local,
                                     std::span<float> sums, std::span<float> amax) const {
  check_scales(amax.size(), first, sums.size());
  add_to(payload, first, scales, local, sums, format_.scaled ? amax.data() : nullptr);
  if (is_quickreduce() || has_reciprocal_scale()) find_amax(sums, first, amax);
}

void BlockCodec::add_to(std::span<const std::byte> payload, std::size_t first,
                        std::span<const float> scales, std::span<const float> local,
                        std::span<float> sums, float* amax) const {
  if (adds_by_code(format_)) throw std::logic_error("exp8 is added by exponents::add()");
  check_scales(scales.size(), first, sums.size());
  check_payload(payload.size(), sums.size());
  check_equal("local values", local.size(), sums.size());
  if (is_quickreduce())
    return quickreduce::dequantize_add(format_.element, payload, first, scales, local, sums);
  if (has_reciprocal_scale())
    return reciprocal_scale::dequantize_add(format_, payload, first, scales, local, sums);
  kernels::dequantize_add({format_, first, scales.data()}, payload.data(), local.data(), sums,
                          amax);
}

QuantizeCounts BlockCodec::count(std::span<const float> values, std::size_t first,
                                 std::span<const float> scales,
                                 const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  if (is_quickreduce()) return quickreduce::count(format_.element, values, first, scales);
  if (adds_by_code(format_)) return {.elements = values.size()};
  if (has_reciprocal_scale())
    return reciprocal_scale::count(format_, values, first, scales, checked(key));
  if (format_.rule == ScaleRule::global_qsgd) return count_wrapped(values);
  return kernels::count({format_, first, scales.data(), checked(key)}, values);
}

}  // namespace equarx::numerics
