#include "models/numerics/codec/reciprocal_scale.hpp"

#include <cstring>
#include <random>

#include "models/numerics/errors/theory.hpp"
#include "tests/models/numerics/codec/reciprocal_codecs.hpp"

namespace equarx::numerics::reciprocal_scale_test {
namespace {

using namespace reciprocal_codecs;

double nmse(const BlockFormat& format, const Floats& values) {
  const Coded got = code(format, values);
  double error = 0.0;
  double power = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += std::pow(double{got.values[i]} - double{values[i]}, 2);
    power += std::pow(double{values[i]}, 2);
  }
  return error / power;
}

TEST_CASE("ZeRO++ and SDP4Bit: errors match uniform quantizers, deterministic and stochastic") {
  std::mt19937 random(8);
  constexpr std::size_t kBlock = 128;
  const Floats values = normal_values(random, 8192 * kBlock / 8, 1.0F);
  const double amax = expected_squared_amax(kBlock);
  for (const ElementFormat element : kElements) {
    const double codes = element == ElementFormat::int8 ? 128.0 : 8.0;
    const double step = amax / (codes * codes);
    // Half of the amax elements are positive and lose a step.
    CHECK(nmse(zeropp(element, kBlock), values) ==
          Approx(step * ((kBlock - 1) / 12.0 + 0.5) / kBlock).epsilon(0.03));
    const double stochastic = amax / ((codes - 1) * (codes - 1));
    CHECK(nmse(sdp4bit(element, kBlock), values) ==
          Approx(stochastic * (kBlock - 1) / 6.0 / kBlock).epsilon(0.03));
  }
}

TEST_CASE("ZeRO++ and SDP4Bit: pieces and short groups match the whole") {
  std::mt19937 random(2);
  for (const ElementFormat element : kElements)
    for (const BlockFormat& format :
         {zeropp(element), sdp4bit(element), zeropp(element, 7), sdp4bit(element, 7)})
      for (const std::size_t elements : {1U, 2U, 15U, 16U, 17U, 130U, 1000U}) {
        const Floats values = normal_values(random, elements, 1.0F);
        const Coded whole = code(format, values);
        const BlockCodec codec(format);
        Floats amax(whole.scales.size());
        for (std::size_t first = 0; first < elements; first += 24) {
          const auto piece =
              std::span(values).subspan(first, std::min<std::size_t>(24, elements - first));
          codec.find_amax(piece, first, amax);
          RoundingKey key = kKey;
          key.first_element += first;
          Bytes payload(payload_bytes(format, piece.size()));
          codec.quantize(piece, first, whole.scales, payload, key);
          Floats decoded(piece.size());
          codec.dequantize(payload, first, whole.scales, decoded);
          for (std::size_t i = 0; i < piece.size(); ++i)
            REQUIRE(decoded[i] == whole.values[first + i]);
        }
        Bytes scales(scales_bytes(format, amax.size()));
        codec.encode_scales(amax, scales);
        CHECK(std::memcmp(scales.data(), whole.scales.data(), scales.size()) == 0);
      }
}

TEST_CASE("ZeRO++ and SDP4Bit: clipped, flushed and non-finite values are counted") {
  Floats values(16, 0.0F);
  values[0] = -8.0F;
  values[1] = 8.0F;   // clipped to 7
  values[2] = 7.25F;  // rounded
  values[3] = 0.5F;   // tie, flushed
  const BlockFormat format = zeropp(ElementFormat::int4);
  QuantizeCounts counts = BlockCodec(format).count(values, 0, code(format, values).scales);
  CHECK(counts.elements == 16);
  CHECK(counts.clipped == 1);
  CHECK(counts.flushed == 1);
  CHECK(counts.non_finite == 0);
  values[5] = kInf;
  counts = BlockCodec(format).count(values, 0, code(format, values).scales);
  CHECK(counts.non_finite == 16);

  const Floats equal(1600, 3.0F);
  const BlockFormat stochastic = sdp4bit(ElementFormat::int4);
  counts = BlockCodec(stochastic).count(equal, 0, code(stochastic, equal).scales, kKey);
  CHECK(counts.clipped == 0);
  CHECK(counts.flushed == 0);
  Floats small(16, 0.01F);
  small[0] = 7.0F;
  const Coded coded = code(stochastic, small);
  counts = BlockCodec(stochastic).count(small, 0, coded.scales, kKey);
  CHECK(counts.flushed == static_cast<std::uint64_t>(std::ranges::count(coded.codes, 0)));
  CHECK_THROWS_AS(BlockCodec(stochastic).count(small, 0, coded.scales), std::invalid_argument);
}

TEST_CASE("ZeRO++ and SDP4Bit: sizes match the reference buffers") {
  const BlockFormat four = zeropp(ElementFormat::int4, 2048);
  CHECK(payload_bytes(four, 4096) + scales_bytes(four, scale_count(four, 4096)) == 2048 + 8);
  const BlockFormat eight = sdp4bit(ElementFormat::int8, 128);
  CHECK(payload_bytes(eight, 4096) + scales_bytes(eight, scale_count(eight, 4096)) == 4096 + 128);
}

TEST_CASE("ZeRO++ and SDP4Bit: unsupported formats are refused") {
  for (const BlockFormat& good : {zeropp(ElementFormat::int4), sdp4bit(ElementFormat::int4)}) {
    const auto refused = [&](auto change) {
      BlockFormat format = good;
      change(format);
      CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
    };
    refused([](BlockFormat& format) { format.element = ElementFormat::int6; });
    refused([](BlockFormat& format) { format.element = ElementFormat::fp8_e4m3; });
    refused([](BlockFormat& format) { format.scale = ScaleFormat::bf16; });
    refused([](BlockFormat& format) { format.layout = ScaleLayout::strided; });
    refused([](BlockFormat& format) { format.block = 0; });
    refused([](BlockFormat& format) { format.scaled = false; });
    refused([](BlockFormat& format) { format.tensor_scale = true; });
    refused([](BlockFormat& format) {
      format.rounding =
          format.rounding == Rounding::nearest ? Rounding::stochastic : Rounding::nearest;
    });
  }
}

}  // namespace
}  // namespace equarx::numerics::reciprocal_scale_test
