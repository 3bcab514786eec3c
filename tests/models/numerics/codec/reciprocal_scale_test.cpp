#include "models/numerics/codec/reciprocal_scale.hpp"

#include <cstring>
#include <random>

#include "models/numerics/elements/float16.hpp"
#include "models/numerics/errors/theory.hpp"
#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::numerics::reciprocal_scale_test {
namespace {

BlockFormat published(ElementFormat element, ScaleRule rule, std::size_t block) {
  BlockFormat format = format_of(element, ScaleFormat::fp32, block);
  format.rule = rule;
  if (rule == ScaleRule::sdp4bit) format.rounding = Rounding::stochastic;
  return format;
}
BlockFormat zeropp(ElementFormat element, std::size_t block = 16) {
  return published(element, ScaleRule::zeropp, block);
}
BlockFormat sdp4bit(ElementFormat element, std::size_t block = 16) {
  return published(element, ScaleRule::sdp4bit, block);
}
constexpr auto kElements = {ElementFormat::int8, ElementFormat::int4};

constexpr RoundingKey kKey{7, 3, 5, 1000};

/// Returns the nearest FP16 number, ties to even; Inf beyond the largest.
double half(double exact) {
  if (std::isnan(exact) || std::isinf(exact) || exact == 0.0) return exact;
  const double step = std::ldexp(1.0, std::max(std::ilogb(exact), -14) - 10);
  const double rounded = std::nearbyint(exact / step) * step;
  return std::abs(rounded) > 65504.0 ? std::copysign(INFINITY, exact) : rounded;
}
float single(double exact) { return static_cast<float>(exact); }

/// One group, computed value by value as in the reference code.
struct Group {
  float scale;
  std::vector<int> codes;
  std::vector<double> values;
};

/// DeepSpeed's csrc/includes/quantization_utils.h. Its maximum starts at -Inf and ignores NaN.
Group zeropp_oracle(int bits, const std::vector<double>& input) {
  double max = -INFINITY;
  for (const double value : input)
    if (!std::isnan(value)) max = std::max(max, std::abs(half(value)));
  const float factor = max == 0.0 ? 1.0F : single(std::ldexp(1.0, bits) / (2.0 * max));
  Group group{single(1.0 / factor), {}, {}};
  for (const double value : input) {
    const float product = single(half(value) * factor);
    int code = std::isnan(product) ? 0 : static_cast<int>(std::nearbyint(product));
    code = std::min(std::max(code, -(1 << (bits - 1))), (1 << (bits - 1)) - 1);
    group.codes.push_back(code);
    group.values.push_back(half(single(double{group.scale} * code)));
  }
  return group;
}

/// Results of encoding and decoding.
struct Coded {
  Floats scales, values;
  Bytes payload;
  std::vector<int> codes;
};
std::vector<int> unpacked(const BlockFormat& format, const Bytes& payload, std::size_t count) {
  std::vector<int> codes;
  for (std::size_t i = 0; i < count; ++i) {
    const int byte =
        std::to_integer<int>(payload[format.element == ElementFormat::int8 ? i : i / 2]);
    if (format.element == ElementFormat::int8)
      codes.push_back(byte < 128 ? byte : byte - 256);
    else
      codes.push_back(((i % 2 == 0 ? byte : byte >> 4) & 15) -
                      (((i % 2 == 0 ? byte : byte >> 4) & 8) != 0 ? 16 : 0));
  }
  return codes;
}
Coded code(const BlockFormat& format, const Floats& values, const RoundingKey& key = kKey) {
  const BlockCodec codec(format);
  Floats amax(scale_count(format, values.size()));
  codec.find_amax(values, 0, amax);
  Bytes bytes(scales_bytes(format, amax.size()));
  codec.encode_scales(amax, bytes);
  Coded coded{
      Floats(amax.size()), Floats(values.size()), Bytes(payload_bytes(format, values.size())), {}};
  codec.decode_scales(bytes, coded.scales);
  codec.quantize(values, 0, coded.scales, coded.payload, key);
  codec.dequantize(coded.payload, 0, coded.scales, coded.values);
  coded.codes = unpacked(format, coded.payload, values.size());
  return coded;
}

bool is(float got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : static_cast<double>(got) == expected;
}

void check_zeropp(const BlockFormat& format, const Floats& values) {
  const Coded got = code(format, values);
  for (std::size_t begin = 0; begin < values.size(); begin += format.block) {
    const std::size_t end = std::min(values.size(), begin + format.block);
    const Group expected = zeropp_oracle(static_cast<int>(element_bits(format.element)),
                                         {values.begin() + begin, values.begin() + end});
    CAPTURE(describe(format), begin);
    if (!std::isinf(expected.scale)) REQUIRE(got.scales[begin / format.block] == expected.scale);
    for (std::size_t i = begin; i < end; ++i) {
      CAPTURE(i, values[i]);
      REQUIRE(got.codes[i] == expected.codes[i - begin]);
      REQUIRE(is(got.values[i], expected.values[i - begin]));
    }
  }
}

Floats normal_values(std::mt19937& random, std::size_t count, float spread) {
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = spread * normal(random);
  return values;
}

TEST_CASE("ZeRO++: random groups of all magnitudes match the oracle bit for bit") {
  std::mt19937 random(1);
  for (const ElementFormat element : kElements)
    for (int exponent = -28; exponent <= 17; ++exponent)
      check_zeropp(zeropp(element), normal_values(random, 16 * 32 + 5, std::ldexp(1.0F, exponent)));
}

TEST_CASE("ZeRO++: all FP16 values with amax that make them codes, ties or out of range") {
  for (const ElementFormat element : kElements)
    for (const float most :
         {1.0F, -1.0F, 8.0F, -31.0F, 1000.0F, 0x1p-15F, 0x1p-24F, -0x3p-24F, 65504.0F}) {
      Floats values;
      for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if (values.size() % 16 == 0) values.push_back(most);
        values.push_back(float_from_fp16(static_cast<std::uint16_t>(bits)));
      }
      check_zeropp(zeropp(element), values);
    }
}

TEST_CASE("ZeRO++: every FP16 amax can be recovered from its scale") {
  for (const ElementFormat element : kElements) {
    Floats values;
    for (std::uint16_t bits = 0; bits <= 0x7c00; ++bits) {
      values.push_back(float_from_fp16(bits));
      values.push_back(0.4375F * float_from_fp16(bits));  // tie of int4, near a tie of int8
    }
    check_zeropp(zeropp(element, 2), values);
  }
}

TEST_CASE("ZeRO++: ties round to even, and the amax gets the lowest code or is clipped") {
  Floats values{-8.0F, 8.0F};  // the factor is 1
  for (int i = 0; i < 15; ++i) values.push_back(static_cast<float>(i) - 7.5F);
  const Coded got = code(zeropp(ElementFormat::int4, 32), values);
  CHECK(got.scales[0] == 1.0F);
  CHECK(got.codes == std::vector<int>{-8, 7, -8, -6, -6, -4, -4, -2, -2, 0, 0, 2, 2, 4, 4, 6, 6});
}

TEST_CASE(
    "ZeRO++: zeros stay zero, a NaN among numbers vanishes, and an Inf turns its group into NaN") {
  for (const ElementFormat element : kElements)
    for (const float special : {kNan, kInf, -kInf, 65520.0F, 0.0F, -0.0F, 0x1p-25F}) {
      Floats values(64, 0.25F);
      values[20] = special;
      check_zeropp(zeropp(element), values);
      check_zeropp(zeropp(element), Floats(32, special));
      values[21] = kNan;
      check_zeropp(zeropp(element), values);
    }
  Floats values(32, 1.0F);
  values[3] = kNan;
  values[20] = kInf;
  const Coded got = code(zeropp(ElementFormat::int8), values);
  CHECK(got.values[3] == 0.0F);
  for (std::size_t i = 16; i < 32; ++i) CHECK(std::isnan(got.values[i]));
}

TEST_CASE("ZeRO++: sums are rounded to FP16 and overflow to Inf") {
  std::mt19937 random(3);
  for (const ElementFormat element : kElements) {
    const BlockFormat format = zeropp(element);
    const Floats values = normal_values(random, 256, 100.0F);
    Floats local = normal_values(random, 256, 1.0F);  // not FP16
    local[7] = values[7] < 0.0F ? -65504.0F : 65504.0F;
    const BlockCodec codec(format);
    const Coded coded = code(format, values);
    Floats sums(256);
    codec.dequantize_add(coded.payload, 0, coded.scales, local, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      REQUIRE(is(sums[i], half(half(local[i]) + double{coded.values[i]})));
    Floats amax(coded.scales.size());
    codec.dequantize_add_amax(coded.payload, 0, coded.scales, local, local, amax);
    CHECK(local == sums);
    Floats expected(amax.size());
    codec.find_amax(sums, 0, expected);
    CHECK(amax == expected);
  }
}

/// Random number of a single element.
double unit(const RoundingKey& key, std::uint64_t element) {
  const std::uint64_t at = key.first_element + element;
  return unit_of(rounding_words(key, at / 4)[at % 4]);
}

TEST_CASE(
    "SDP4Bit: scales match the reference bit for bit, and codes for the same random numbers") {
  std::mt19937 random(5);
  std::size_t others = 0;
  std::size_t all = 0;
  for (const ElementFormat element : kElements) {
    const int most = element == ElementFormat::int8 ? 127 : 7;
    for (int exponent = -148; exponent <= 125; ++exponent) {
      const BlockFormat format = sdp4bit(element);
      const Floats values = normal_values(random, 16 * 8 + 3, std::ldexp(1.0F, exponent));
      const Coded got = code(format, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t begin = i / 16 * 16;
        double max = 0.0;
        for (std::size_t k = begin; k < std::min(values.size(), begin + 16); ++k)
          max = std::max(max, std::abs(double{values[k]}));
        const float factor = max == 0.0 ? 1.0F : static_cast<float>(most) / single(max);
        const float scale = 1.0F / factor;
        CAPTURE(describe(format), exponent, i, values[i], factor);
        REQUIRE(got.scales[i / 16] == scale);
        REQUIRE(got.values[i] == static_cast<float>(got.codes[i]) * scale);
        if (scale < std::numeric_limits<float>::min()) continue;
        const auto rounded = [&](float of) {
          const float product = values[i] * of;
          const double low = std::floor(product);
          const double up = unit(kKey, i) < product - low ? std::ceil(product) : low;
          return std::clamp(static_cast<int>(up), -most - 1, most);
        };
        REQUIRE(got.codes[i] == rounded(1.0F / scale));
        REQUIRE(std::abs(1.0F / scale - factor) <= 0x1p-22F * factor);
        others += got.codes[i] == rounded(factor) ? 0 : 1;
        ++all;
      }
    }
  }
  CHECK(all > 60'000);
  // Apart from the amax of groups, the last place of a factor matters for one code in millions.
  CHECK(others <= 5);
}

TEST_CASE("SDP4Bit: groups with subnormal scales are approximated or become zeros, never NaN") {
  for (const ElementFormat element : kElements)
    for (int exponent = -149; exponent <= -120; ++exponent) {
      Floats values(16);
      for (std::size_t i = 0; i < 16; ++i)
        values[i] = std::ldexp(1.0F, exponent) * (i % 2 == 0 ? 1.0F : -0.25F);
      const Coded got = code(sdp4bit(element), values);
      const bool lost = got.scales[0] == 0.0F;
      CHECK(lost == (exponent <= (element == ElementFormat::int8 ? -122 : -126)));
      for (std::size_t i = 0; i < 16; ++i) {
        REQUIRE(std::isfinite(got.values[i]));
        if (lost)
          CHECK(got.values[i] == 0.0F);
        else
          CHECK(std::abs(got.values[i] - values[i]) <= 1.01F * got.scales[0]);
      }
    }
}

TEST_CASE("SDP4Bit: zeros stay zero, and groups with a NaN or an Inf decode to NaN") {
  for (const ElementFormat element : kElements) {
    CHECK(code(sdp4bit(element), Floats(40, -0.0F)).values == Floats(40, 0.0F));
    for (const float special : {kNan, kInf, -kInf}) {
      Floats values(48, 1.0F);
      values[20] = special;
      const Coded got = code(sdp4bit(element), values);
      for (std::size_t i = 0; i < 48; ++i) CHECK(std::isnan(got.values[i]) == (i / 16 == 1));
    }
  }
}

TEST_CASE("SDP4Bit: rounding is unbiased and goes to a neighbouring code") {
  std::mt19937 random(6);
  const Floats values = normal_values(random, 128, 1.0F);
  constexpr int kTimes = 4000;
  for (const ElementFormat element : kElements) {
    const BlockFormat format = sdp4bit(element, 128);
    std::vector<double> sums(values.size());
    float step = 0.0F;
    for (int time = 0; time < kTimes; ++time) {
      const Coded got = code(format, values, {static_cast<std::uint64_t>(time)});
      step = got.scales[0];
      for (std::size_t i = 0; i < values.size(); ++i) {
        REQUIRE(std::abs(got.values[i] - values[i]) <= 1.000001F * step);
        sums[i] += got.values[i];
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i)  // standard deviation: at most half a step
      CHECK(std::abs(sums[i] / kTimes - double{values[i]}) < 4.5 * 0.5 * step / std::sqrt(kTimes));
  }
}

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
