#include "models/numerics/codec/reciprocal_scale.hpp"

#include <stdexcept>

#include "models/numerics/elements/bit_packing.hpp"

namespace equarx::numerics {

void check_reciprocal(const BlockFormat& format, Rounding rounding) {
  if (!format.scaled || format.scale != ScaleFormat::fp32 ||
      format.layout != ScaleLayout::contiguous || format.tensor_scale ||
      format.rounding != rounding)
    throw std::invalid_argument(
        "ZeRO++ and SDP4Bit require fp32 scales of contiguous blocks, and rounding to nearest "
        "(ZeRO++) or stochastic rounding (SDP4Bit)");
  if (format.element != ElementFormat::int8 && format.element != ElementFormat::int4)
    throw std::invalid_argument("ZeRO++ and SDP4Bit support int8 and int4 only");
}

void pack_integers(ElementFormat element, std::span<const std::byte> codes,
                   std::span<std::byte> payload) {
  if (element == ElementFormat::int4)
    pack_codes<4>(codes.data(), codes.size(), payload.data());
  else
    std::ranges::copy(codes, payload.begin());
}

}  // namespace equarx::numerics
