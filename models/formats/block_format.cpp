#include "models/formats/block_format.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace equarx::numerics {

std::size_t element_bits(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return 32;
    case ElementFormat::bf16:
    case ElementFormat::fp16: return 16;
    case ElementFormat::int8:
    case ElementFormat::mxint8:
    case ElementFormat::exp8:
    case ElementFormat::fp8_e4m3:
    case ElementFormat::fp8_e5m2:
    case ElementFormat::fp8_e4m3fnuz:
    case ElementFormat::fp8_e5m2fnuz: return 8;
    case ElementFormat::int6:
    case ElementFormat::fp6_e2m3:
    case ElementFormat::fp6_e3m2: return 6;
    case ElementFormat::int4:
    case ElementFormat::fp4_e2m1: return 4;
  }
  throw std::logic_error("element_bits: not an element format");
}

std::size_t scale_bytes(ScaleFormat format) {
  switch (format) {
    case ScaleFormat::fp32: return 4;
    case ScaleFormat::bf16:
    case ScaleFormat::fp16: return 2;
    case ScaleFormat::e8m0:
    case ScaleFormat::e4m3: return 1;
  }
  throw std::logic_error("scale_bytes: not a scale format");
}

double element_bytes(const BlockFormat& format) {
  const double bits = format.rule == ScaleRule::own
                          ? format.own.bits_per_element
                          : static_cast<double>(element_bits(format.element));
  return bits / CHAR_BIT;
}

std::uint64_t payload_bytes(const BlockFormat& format, std::uint64_t elements) {
  if (format.rule == ScaleRule::own)
    return static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(elements) * element_bytes(format)));
  return (elements * element_bits(format.element) + CHAR_BIT - 1) / CHAR_BIT;
}

bool sends_scales(const BlockFormat& format) {
  return format.scaled && format.rule != ScaleRule::own;
}

std::uint64_t scale_count(const BlockFormat& format, std::uint64_t elements) {
  if (!sends_scales(format)) return 0;
  if (format.layout == ScaleLayout::strided)
    return std::min<std::uint64_t>(elements, format.columns);
  if (format.block == 0) {
    throw std::invalid_argument(
        "block is 0: contiguous scales need at least 1 element per scale, e.g. 128");
  }
  if (format.layout == ScaleLayout::paired) {
    const std::uint64_t run = 2 * format.block;
    return elements / run * 2 + std::min<std::uint64_t>(elements % run, 2);
  }
  return elements / format.block + (elements % format.block != 0 ? 1 : 0);
}

std::uint64_t scales_bytes(const BlockFormat& format, std::uint64_t scales) {
  return scales * scale_bytes(format.scale) + (format.tensor_scale ? kTensorScaleBytes : 0);
}

bool has_shared_scale(const BlockFormat& format) {
  return format.rule == ScaleRule::fp8lm || format.rule == ScaleRule::global_qsgd;
}

bool adds_by_code(const BlockFormat& format) { return format.element == ElementFormat::exp8; }

bool rounds_randomly(const BlockFormat& format) {
  return format.rounding == Rounding::stochastic || format.rule == ScaleRule::sdp4bit ||
         format.rule == ScaleRule::global_qsgd;
}

std::uint32_t most_ranks(const BlockFormat& format) {
  const bool integers =
      format.rule == ScaleRule::global_qsgd && format.element == ElementFormat::int8;
  return integers ? static_cast<std::uint32_t>(kInt8LargestCode)
                  : std::numeric_limits<std::uint32_t>::max();
}

bool same_groups(const BlockFormat& first, const BlockFormat& second) {
  if (!sends_scales(first) || !sends_scales(second) || first.layout != second.layout) return false;
  return first.layout == ScaleLayout::strided ? first.columns == second.columns
                                              : first.block == second.block;
}

std::string_view name(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return "fp32";
    case ElementFormat::bf16: return "bf16";
    case ElementFormat::int8: return "int8";
    case ElementFormat::fp8_e4m3: return "fp8-e4m3";
    case ElementFormat::fp8_e5m2: return "fp8-e5m2";
    case ElementFormat::fp8_e4m3fnuz: return "fp8-e4m3fnuz";
    case ElementFormat::fp8_e5m2fnuz: return "fp8-e5m2fnuz";
    case ElementFormat::fp16: return "fp16";
    case ElementFormat::int6: return "int6";
    case ElementFormat::int4: return "int4";
    case ElementFormat::fp6_e2m3: return "fp6-e2m3";
    case ElementFormat::fp6_e3m2: return "fp6-e3m2";
    case ElementFormat::fp4_e2m1: return "fp4-e2m1";
    case ElementFormat::mxint8: return "mxint8";
    case ElementFormat::exp8: return "exp8";
  }
  throw std::logic_error("name: not an element format");
}

std::string_view name(ScaleFormat format) {
  switch (format) {
    case ScaleFormat::fp32: return "fp32";
    case ScaleFormat::bf16: return "bf16";
    case ScaleFormat::e8m0: return "e8m0";
    case ScaleFormat::e4m3: return "e4m3";
    case ScaleFormat::fp16: return "fp16";
  }
  throw std::logic_error("name: not a scale format");
}

std::string_view name(ScaleLayout layout) {
  switch (layout) {
    case ScaleLayout::strided: return "strided";
    case ScaleLayout::contiguous: return "contiguous";
    case ScaleLayout::paired: return "paired";
  }
  throw std::logic_error("name: not a scale layout");
}

std::string_view name(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest: return "nearest";
    case Rounding::stochastic: return "stochastic";
  }
  throw std::logic_error("name: not a rounding");
}

std::string_view name(ScaleRounding rounding) {
  switch (rounding) {
    case ScaleRounding::floor: return "floor";
    case ScaleRounding::up: return "up";
    case ScaleRounding::even: return "even";
  }
  throw std::logic_error("name: not a rounding of scales");
}

namespace {

constexpr BlockFormat plain(ElementFormat element) { return {.element = element}; }

constexpr BlockFormat strided(ElementFormat element) {
  return {.element = element, .scaled = true};
}

constexpr BlockFormat blocks(ElementFormat element, ScaleFormat scale, std::size_t block) {
  return {element, true, scale, ScaleLayout::contiguous, block};
}

constexpr BlockFormat mx(ElementFormat element) {
  constexpr std::size_t kBlock = 32;
  return blocks(element, ScaleFormat::e8m0, kBlock);
}

constexpr BlockFormat nvfp4(bool tensor_scale) {
  constexpr std::size_t kBlock = 16;
  BlockFormat format = blocks(ElementFormat::fp4_e2m1, ScaleFormat::e4m3, kBlock);
  format.tensor_scale = tensor_scale;
  return format;
}

constexpr BlockFormat quickreduce(ElementFormat element) {
  BlockFormat format = blocks(element, ScaleFormat::fp16, kQuickReduceBlock);
  format.layout = ScaleLayout::paired;
  format.rule = ScaleRule::quickreduce;
  return format;
}

constexpr BlockFormat zeropp(ElementFormat element) {
  constexpr std::size_t kBlock = 2048;
  BlockFormat format = blocks(element, ScaleFormat::fp32, kBlock);
  format.rule = ScaleRule::zeropp;
  return format;
}

constexpr BlockFormat sdp4bit(ElementFormat element) {
  constexpr std::size_t kBlock = 128;
  BlockFormat format = blocks(element, ScaleFormat::fp32, kBlock);
  format.rounding = Rounding::stochastic;
  format.rule = ScaleRule::sdp4bit;
  return format;
}

constexpr BlockFormat shared(ElementFormat element, ScaleRule rule) {
  BlockFormat format = plain(element);
  format.rule = rule;
  return format;
}

constexpr std::array kNamedFormats = {
    NamedFormat{"fp32", plain(ElementFormat::fp32)},
    NamedFormat{"bf16", plain(ElementFormat::bf16)},
    NamedFormat{"fp16", plain(ElementFormat::fp16)},
    NamedFormat{"int8", strided(ElementFormat::int8)},
    NamedFormat{"int6", strided(ElementFormat::int6)},
    NamedFormat{"int4", strided(ElementFormat::int4)},
    NamedFormat{"fp8-e4m3", strided(ElementFormat::fp8_e4m3)},
    NamedFormat{"fp8-e5m2", strided(ElementFormat::fp8_e5m2)},
    NamedFormat{"fp8-e4m3fnuz", strided(ElementFormat::fp8_e4m3fnuz)},
    NamedFormat{"fp8-e5m2fnuz", strided(ElementFormat::fp8_e5m2fnuz)},
    NamedFormat{"mxfp8-e4m3", mx(ElementFormat::fp8_e4m3)},
    NamedFormat{"mxfp8-e5m2", mx(ElementFormat::fp8_e5m2)},
    NamedFormat{"mxfp6-e2m3", mx(ElementFormat::fp6_e2m3)},
    NamedFormat{"mxfp6-e3m2", mx(ElementFormat::fp6_e3m2)},
    NamedFormat{"mxfp4", mx(ElementFormat::fp4_e2m1)},
    NamedFormat{"mxint8", mx(ElementFormat::mxint8)},
    NamedFormat{"nvfp4", nvfp4(true)},
    NamedFormat{"nvfp4-block", nvfp4(false)},
    NamedFormat{"quickreduce-int8", quickreduce(ElementFormat::int8)},
    NamedFormat{"quickreduce-int6", quickreduce(ElementFormat::int6)},
    NamedFormat{"quickreduce-int4", quickreduce(ElementFormat::int4)},
    NamedFormat{"quickreduce-fp8", quickreduce(ElementFormat::fp8_e4m3fnuz)},
    NamedFormat{"zeropp-int8", zeropp(ElementFormat::int8)},
    NamedFormat{"zeropp-int4", zeropp(ElementFormat::int4)},
    NamedFormat{"sdp4bit-int8", sdp4bit(ElementFormat::int8)},
    NamedFormat{"sdp4bit-int4", sdp4bit(ElementFormat::int4)},
    NamedFormat{"fp8lm-e4m3", shared(ElementFormat::fp8_e4m3, ScaleRule::fp8lm)},
    NamedFormat{"fp8lm-e5m2", shared(ElementFormat::fp8_e5m2, ScaleRule::fp8lm)},
    NamedFormat{"global-qsgd-int8", shared(ElementFormat::int8, ScaleRule::global_qsgd)},
    NamedFormat{"global-qsgd-exp8", shared(ElementFormat::exp8, ScaleRule::global_qsgd)}};

}  // namespace

std::span<const NamedFormat> named_formats() { return kNamedFormats; }

}  // namespace equarx::numerics
