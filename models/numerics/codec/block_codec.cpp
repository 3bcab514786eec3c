#include "models/numerics/codec/block_codec.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/numerics/codec/rule_codec.hpp"

namespace equarx::numerics {

namespace {

void check_equal(const char* what, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw std::invalid_argument(std::string(what) + ": got " + std::to_string(got) + ", needs " +
                                std::to_string(expected));
  }
}

void check_groups(const BlockFormat& format) {
  scale_count(format, 0);  // throws for blocks of 0 elements
  if (format.columns == 0 || format.columns > kRegisterElements ||
      format.columns % kFewestColumns != 0)
    throw std::invalid_argument("columns: got " + std::to_string(format.columns) +
                                ", needs a multiple of 64 up to 1024");
}

}  // namespace

BlockCodec::BlockCodec(BlockFormat format) : format_(format), rule_(make_rule_codec(format)) {
  check_groups(format_);
}

BlockCodec::BlockCodec(BlockFormat format, std::shared_ptr<const RuleCodec> own)
    : format_(format),
      rule_(format.rule == ScaleRule::own ? std::move(own) : make_rule_codec(format)) {
  if (!rule_) throw std::invalid_argument("the format's own codec is missing");
  check_groups(format_);
}

void BlockCodec::check_scales(std::size_t scales, std::size_t first, std::size_t elements) const {
  // The length of the minishard is unknown here; it extends at least to the end of this piece.
  const std::size_t needed = scale_count(format_, first + elements);
  const bool has_scales = sends_scales(format_);
  const bool longest = !has_scales || format_.layout == ScaleLayout::strided;
  const std::size_t allowed = has_scales ? format_.columns : 0;
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
  check_equal("bytes of payload", bytes, held_bytes(format_, elements));
}

void BlockCodec::find_amax(std::span<const float> values, std::size_t first,
                           std::span<float> amax) const {
  check_scales(amax.size(), first, values.size());
  if (sends_scales(format_)) rule_->find_amax(values, first, amax);
}

void BlockCodec::encode_scales(std::span<const float> amax, std::span<std::byte> bytes,
                               float elsewhere) const {
  check_equal("bytes of scales", bytes.size(), scales_bytes(format_, amax.size()));
  if (!(elsewhere >= 0.0F && elsewhere <= std::numeric_limits<float>::max()))
    throw std::invalid_argument("amax elsewhere: got " + std::to_string(elsewhere) +
                                ", needs a finite number >= 0");
  if (sends_scales(format_)) rule_->encode_scales(amax, elsewhere, bytes);
}

void BlockCodec::decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const {
  check_equal("bytes of scales", bytes.size(), scales_bytes(format_, scales.size()));
  if (sends_scales(format_)) rule_->decode_scales(bytes, scales);
}

void BlockCodec::quantize(std::span<const float> values, std::size_t first,
                          std::span<const float> scales, std::span<std::byte> payload,
                          const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  rule_->quantize({first, scales, checked(key)}, values, payload);
}

void BlockCodec::dequantize(std::span<const std::byte> payload, std::size_t first,
                            std::span<const float> scales, std::span<float> values) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  rule_->dequantize({first, scales}, payload, values);
}

void BlockCodec::dequantize_add(std::span<const std::byte> payload, std::size_t first,
                                std::span<const float> scales, std::span<const float> local,
                                std::span<float> sums) const {
  add_to(payload, first, scales, local, sums, {});
}

void BlockCodec::dequantize_add_amax(std::span<const std::byte> payload, std::size_t first,
                                     std::span<const float> scales, std::span<const float> local,
                                     std::span<float> sums, std::span<float> amax) const {
  check_scales(amax.size(), first, sums.size());
  add_to(payload, first, scales, local, sums, amax);
}

void BlockCodec::add_to(std::span<const std::byte> payload, std::size_t first,
                        std::span<const float> scales, std::span<const float> local,
                        std::span<float> sums, std::span<float> amax) const {
  check_scales(scales.size(), first, sums.size());
  check_payload(payload.size(), sums.size());
  check_equal("local values", local.size(), sums.size());
  rule_->dequantize_add({first, scales}, payload, local, sums, amax);
}

QuantizeCounts BlockCodec::count(std::span<const float> values, std::size_t first,
                                 std::span<const float> scales,
                                 const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  return rule_->count({first, scales, checked(key)}, values);
}

QuantizeCounts BlockCodec::quantize_and_count(std::span<const float> values, std::size_t first,
                                              std::span<const float> scales,
                                              std::span<std::byte> payload,
                                              const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  return rule_->quantize_and_count({first, scales, checked(key)}, values, payload);
}

std::size_t held_bytes(const BlockFormat& format, std::size_t elements) {
  return format.rule == ScaleRule::own ? elements * sizeof(float) : payload_bytes(format, elements);
}

}  // namespace equarx::numerics
