#include "models/numerics/codec/block_codec.hpp"

#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::block_codec_test {

using namespace equarx::numerics;

TEST_CASE("codec matches the reference bit for bit: formats, inputs, lengths") {
  std::mt19937 random(17);
  for (const BlockFormat& format : all_formats()) {
    for (Kind kind : kKinds) {
      for (std::size_t length : {1, 2, 15, 17, 1023, 1024, 1025, 3000, 4096}) {
        const Floats input = draw_many(kind, length, random);
        INFO(describe(format) << ", inputs " << static_cast<int>(kind) << ", " << length);
        const Result expected = run<ReferenceCodec>(format, input);
        on_every_target([&] { require_same(run<BlockCodec>(format, input), expected); });
      }
    }
  }
}

TEST_CASE("codec matches the reference at all lengths and offsets around a vector") {
  std::mt19937 random(23);
  for (const BlockFormat& format : all_formats()) {
    if (format.scaled && format.scale != ScaleFormat::fp32) continue;
    for (std::size_t length = 0; length <= 70; ++length) {
      const std::size_t before = random() % 70;
      const Floats input = draw_many(Kind::any_bits, before + length, random);
      const std::vector<std::size_t> cuts{before, before + length};
      INFO(describe(format) << ", " << length << " after " << before);
      const Result expected = run<ReferenceCodec>(format, input, cuts);
      on_every_target([&] { require_same(run<BlockCodec>(format, input, cuts), expected); });
    }
  }
}

TEST_CASE("codec matches the reference for all combinations of special scales and values") {
  const Floats special{0.0F,    -0.0F,         kTiny,  -kTiny,   0x1p-127F, 0x1p-126F, 1e-20F,
                       0.5F,    1.0F,          -1.5F,  126.5F,   127.5F,    -128.5F,   4194303.5F,
                       -4.2e6F, -1.2582913e7F, 1.3e7F, -1e9F,    1e30F,     kMax,      -kMax,
                       kInf,    -kInf,         kNan,   0x1p126F, 0x1p127F};
  for (auto element : kScaledElements) {
    for (const float scale : special) {
      // The value twice in a block of values that match the scale.
      for (const float value : special) {
        Floats input(64, scale);
        input[0] = input[40] = value;
        const BlockFormat format = {element, true, ScaleFormat::fp32, ScaleLayout::contiguous, 64};
        const Floats scales{scale};
        Bytes expected(payload_bytes(format, 64));
        ReferenceCodec(format).quantize(input, 0, scales, expected);
        on_every_target([&] {
          Bytes payload(expected.size());
          BlockCodec(format).quantize(input, 0, scales, payload);
          if (payload != expected) FAIL(describe(format) << ": " << value << " / " << scale);
        });
      }
    }
  }
  SUCCEED();
}

TEST_CASE("every code decodes as in the reference") {
  constexpr std::size_t kCount = 3 * 65536;  // whole bytes for any width
  Bytes payload(2 * kCount);
  for (std::size_t b = 0; b < payload.size(); ++b)  // all pairs of bytes
    payload[b] = static_cast<std::byte>(b % 2 == 0 ? b / 2 : b / 512);
  for (const BlockFormat& format : all_formats()) {
    if (format.element == ElementFormat::fp32) continue;
    const Floats scales(scale_count(format, kCount), 0x1.8p-3F);
    const auto bytes = std::span(payload).first(payload_bytes(format, kCount));
    Floats expected(kCount);
    ReferenceCodec(format).dequantize(bytes, 0, scales, expected);
    INFO(describe(format));
    on_every_target([&] {
      Floats values(kCount);
      BlockCodec(format).dequantize(bytes, 0, scales, values);
      REQUIRE(same(values, expected));
    });
  }
}

TEST_CASE("arbitrary bits and values around midpoints encode as in the reference") {
  std::mt19937 random(47);
  Floats input;
  for (int i = 0; i < 10000; ++i)
    input.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (int exponent = -30; exponent <= 20; ++exponent)
    for (int steps = 0; steps < 64; ++steps)  // halves of steps of up to 4 bits
      for (float near : {-1.0F, 0.0F, 1.0F}) {
        const float middle = std::ldexp(1.0F + static_cast<float>(steps) / 64.0F, exponent);
        const float value = near == 0.0F ? middle : std::nextafter(middle, near * kInf);
        input.push_back(value);
        input.push_back(-value);
      }
  for (const BlockFormat& format : all_formats()) {
    for (const float scale : {1.0F, 0x1p-7F, 0.75F, 0x1p127F, 0x1p-127F}) {
      const Floats scales(scale_count(format, input.size()), scale);
      Bytes expected(payload_bytes(format, input.size()));
      ReferenceCodec(format).quantize(input, 0, scales, expected);
      INFO(describe(format) << " / " << scale);
      on_every_target([&] {
        Bytes payload(expected.size());
        BlockCodec(format).quantize(input, 0, scales, payload);
        REQUIRE(payload == expected);
      });
    }
  }
}

TEST_CASE("integers: quotients within an ulp of the midpoint of two codes") {
  std::mt19937 random(29);
  std::uniform_real_distribution<float> mantissa(1.0F, 2.0F);
  const BlockFormat blocks{ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::contiguous,
                           4096};
  const BlockFormat strided{ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::strided, 0};
  for (int repeat = 0; repeat < 200; ++repeat) {
    Floats scales(kRegisterElements);
    for (float& scale : scales) scale = mantissa(random);
    Floats input(4 * kRegisterElements);
    for (const BlockFormat& format : {blocks, strided}) {
      for (std::size_t e = 0; e < input.size(); ++e) {
        const float scale = format == blocks ? scales[0] : scales[e % kRegisterElements];
        const auto middle = static_cast<float>(static_cast<int>(random() % 256) - 128) + 0.5F;
        input[e] = middle * scale;
        if (e % 3 == 1) input[e] = std::nextafter(input[e], kInf);
        if (e % 3 == 2) input[e] = std::nextafter(input[e], -kInf);
      }
      Bytes expected(input.size());
      ReferenceCodec(format).quantize(input, 0, scales, expected);
      on_every_target([&] {
        Bytes payload(input.size());
        BlockCodec(format).quantize(
            input, 0, format == blocks ? std::span(scales).first(1) : std::span(scales), payload);
        REQUIRE(payload == expected);
      });
    }
  }
}

TEST_CASE("integers: values beyond their scale saturate, and NaN is 0, next to others") {
  std::mt19937 random(30);
  const Floats scales(kRegisterElements, 0.01F);
  for (const ElementFormat element :
       {ElementFormat::int8, ElementFormat::int6, ElementFormat::int4})
    for (const std::size_t every : {5, 300, 5000}) {
      const BlockFormat format{element, true, ScaleFormat::fp32, ScaleLayout::strided, 0};
      Floats input(5 * kRegisterElements);
      for (std::size_t e = 0; e < input.size(); ++e) {
        input[e] = 0.02F * draw(Kind::normal, random);
        constexpr std::array kBeyond = {2.0F, -1e30F, kInf, -kInf, kNan, -kNan};
        if (random() % every == 0) input[e] = kBeyond[e % kBeyond.size()];
      }
      Bytes expected(payload_bytes(format, input.size()));
      ReferenceCodec(format).quantize(input, 0, scales, expected);
      on_every_target([&] {
        Bytes payload(expected.size());
        BlockCodec(format).quantize(input, 0, scales, payload);
        REQUIRE(payload == expected);
      });
    }
}

TEST_CASE("dequantize_add_amax() equals dequantize_add() followed by find_amax()") {
  std::mt19937 random(31);
  for (const BlockFormat& format : all_formats()) {
    const BlockCodec codec(format);
    for (Kind kind : {Kind::normal, Kind::any_bits}) {
      for (std::size_t first : {0, 1024, 37}) {
        for (std::size_t length : {1, 31, 1024, 2048, 5000}) {
          const Floats input = draw_many(kind, first + length, random);
          const Floats local = draw_many(kind, length, random);
          const Result message = run<ReferenceCodec>(format, input, {first, first + length});
          const auto payload = std::span(message.payload).subspan(payload_bytes(format, first));
          Floats expected_sums(length);
          Floats expected_amax = message.amax;
          ReferenceCodec(format).dequantize_add(payload, first, message.scales, local,
                                                expected_sums);
          ReferenceCodec(format).find_amax(expected_sums, first, expected_amax);
          INFO(describe(format) << ", " << length << " at " << first);
          on_every_target([&] {
            Floats sums(length);
            Floats amax = message.amax;
            codec.dequantize_add_amax(payload, first, message.scales, local, sums, amax);
            REQUIRE(same(sums, expected_sums));
            REQUIRE(same(amax, expected_amax));
            Floats in_place = local;
            codec.dequantize_add_amax(payload, first, message.scales, in_place, in_place, amax);
            REQUIRE(same(in_place, expected_sums));
          });
        }
      }
    }
  }
}

TEST_CASE("pieces at any offset give the same result as the whole minishard") {
  std::mt19937 random(18);
  for (const BlockFormat& format : all_formats()) {
    for (std::size_t length : {1, 1023, 1025, 5000}) {
      const Floats input = draw_many(Kind::normal, length, random);
      const Result whole = run<ReferenceCodec>(format, input);
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<std::size_t> cuts;
        for (std::size_t end = 0; end < length;) {
          const std::size_t longest = repeat == 0 ? 40 : 2100;
          end = std::min<std::size_t>(length, end + random() % longest);  // including empty pieces
          cuts.push_back(end);
        }
        INFO(describe(format) << ", " << length << " in " << cuts.size() << " pieces");
        require_same_values(run<BlockCodec>(format, input, cuts), whole);
      }
    }
  }
}

TEST_CASE("sums may overwrite the local values") {
  std::mt19937 random(19);
  for (const BlockFormat& format : all_formats()) {
    const Floats input = draw_many(Kind::normal, 2500, random);
    const Result result = run<ReferenceCodec>(format, input);
    Floats sums = input;
    BlockCodec(format).dequantize_add(result.payload, 0, result.scales, sums, sums);
    REQUIRE(same(sums, result.sums));
  }
}

TEST_CASE("int8 codes by hand: ties to even, never -128") {
  const Floats input{127.0F, -127.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 63.4999F, -0.0F};
  const Result r = run<BlockCodec>(format_of(ElementFormat::int8), input);
  const std::vector<int> expected{127, -127, 0, 2, 2, 0, -2, -2, 63, 0};
  for (std::size_t i = 0; i < input.size(); ++i) {
    REQUIRE(static_cast<std::int8_t>(r.payload[i]) == expected[i]);
  }
  REQUIRE(r.scales == Floats{1.0F});
}

TEST_CASE("an amax never encodes as -128, however its scale is rounded") {
  for (ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16}) {
    for (int i = 0; i < 5000; ++i) {
      const float amax = 1.0F + static_cast<float>(i) * 0.0007F;
      const Result r = run<BlockCodec>(format_of(ElementFormat::int8, scale), {-amax, amax});
      const int low = static_cast<std::int8_t>(r.payload[0]);
      const int high = static_cast<std::int8_t>(r.payload[1]);
      if (low != -high || high > 127 || high < 126) FAIL("amax " << amax);
    }
  }
  SUCCEED();
}

TEST_CASE("int8 clamps to +-127 if the given scale is too small") {
  const BlockCodec codec(format_of(ElementFormat::int8));
  const Floats scales{0.5F};
  Bytes payload(3);
  codec.quantize(Floats{1000.0F, -1000.0F, -63.9F}, 0, scales, payload);
  REQUIRE(static_cast<std::int8_t>(payload[0]) == 127);
  REQUIRE(static_cast<std::int8_t>(payload[1]) == -127);
  REQUIRE(static_cast<std::int8_t>(payload[2]) == -127);
}

TEST_CASE("FP8 scales map the amax to the largest finite code") {
  const Result e4m3 = run<BlockCodec>(format_of(ElementFormat::fp8_e4m3), {-7.0F, 3.5F});
  REQUIRE(e4m3.scales == Floats{7.0F / 448.0F});
  REQUIRE(e4m3.values == Floats{-7.0F, 3.5F});
  REQUIRE(e4m3.payload[0] == std::byte{0xfe});
  const Result e5m2 = run<BlockCodec>(format_of(ElementFormat::fp8_e5m2), {-7.0F, 3.5F});
  REQUIRE(e5m2.values == Floats{-7.0F, 3.5F});
  REQUIRE(e5m2.payload[0] == std::byte{0xfb});
  const Result fnuz = run<BlockCodec>(format_of(ElementFormat::fp8_e4m3fnuz), {-7.0F, 3.5F});
  REQUIRE(fnuz.scales == Floats{7.0F / 240.0F});
  REQUIRE(fnuz.payload == Bytes{std::byte{0xff}, std::byte{0x77}});
}

TEST_CASE("FNUZ casts by hand: no -0, and one NaN for all non-finite values") {
  const Floats input{0.0F, -0.0F, -kTiny, 1.0F, -1.0F, 1e9F, -1e9F, kInf, -kInf, kNan, -kNan};
  const std::vector<int> expected{0, 0, 0, 0x40, 0xc0, 0x7f, 0xff, 0x80, 0x80, 0x80, 0x80};
  for (const ElementFormat element : {ElementFormat::fp8_e4m3fnuz, ElementFormat::fp8_e5m2fnuz})
    on_every_target([&] {
      const Bytes payload = run<BlockCodec>({.element = element}, input).payload;
      for (std::size_t i = 0; i < input.size(); ++i)
        REQUIRE(std::to_integer<int>(payload[i]) == expected[i]);
    });
}

TEST_CASE("a zero group has scale 0 and decodes to 0") {
  for (const BlockFormat& format : scaled_formats()) {
    const Result r = run<BlockCodec>(format, Floats(2048, -0.0F));
    const float expected = format.scale == ScaleFormat::e8m0 ? 0x1p-127F : 0.0F;
    for (float scale : r.scales) REQUIRE(scale == expected);
    for (float value : r.values) REQUIRE(value == 0.0F);
  }
}

TEST_CASE("a NaN or an Inf turns its whole group into NaN, and no other group") {
  for (const BlockFormat& format : scaled_formats()) {
    for (float poison : {kNan, -kNan, kInf, -kInf}) {
      for (std::size_t place : {std::size_t{0}, std::size_t{5}, std::size_t{2047}}) {
        Floats input(2048, 1.0F);
        input[place] = poison;
        const Result r = run<BlockCodec>(format, input);
        const auto group = [&](std::size_t e) {
          return format.layout == ScaleLayout::strided ? e % 1024 : e / format.block;
        };
        for (std::size_t e = 0; e < input.size(); ++e) {
          if (std::isnan(r.values[e]) != (group(e) == group(place))) {
            FAIL(describe(format) << " element " << e << " poison " << poison << " at " << place);
          }
        }
      }
    }
  }
  SUCCEED();
}

TEST_CASE("int6 and int4 codes and their packing by hand") {
  const Result r = run<BlockCodec>(format_of(ElementFormat::int4),
                                   {7.0F, -7.0F, 0.5F, 1.5F, -2.5F, -3.5F, 6.6F});
  REQUIRE(r.payload == Bytes{std::byte{0x97}, std::byte{0x20}, std::byte{0xce}, std::byte{0x07}});
  const Result sixes =
      run<BlockCodec>(format_of(ElementFormat::int6), {31, -31, 0.5F, 1.5F, -2.5F});
  REQUIRE(sixes.payload ==
          Bytes{std::byte{0x5f}, std::byte{0x08}, std::byte{0x08}, std::byte{0x3e}});
  REQUIRE(sixes.values == Floats{31.0F, -31.0F, 0.0F, 2.0F, -2.0F});
  const Result mx = run<BlockCodec>(format_of(ElementFormat::mxint8, ScaleFormat::e8m0),
                                    {1.99F, -1.0F, 0.5F / 64, 1.5F / 64});
  REQUIRE(mx.payload == Bytes{std::byte{127}, std::byte{0xc0}, std::byte{0}, std::byte{2}});
  const Result six = run<BlockCodec>(format_of(ElementFormat::fp6_e2m3), {7.5F, 0.125F, -7.5F, 1});
  REQUIRE(six.payload == Bytes{std::byte{0x5f}, std::byte{0xf0}, std::byte{0x23}});
}

TEST_CASE("fp32 is exact, including NaN payloads") {
  const Floats input{1.0F, -0.0F, kInf, kTiny, std::bit_cast<float>(0x7fc12345U)};
  const Result r = run<BlockCodec>({.element = ElementFormat::fp32}, input);
  REQUIRE(std::memcmp(r.values.data(), input.data(), input.size() * sizeof(float)) == 0);
}

TEST_CASE("blocks of 0 elements are refused") {
  REQUIRE_THROWS_WITH(BlockCodec(format_of(ElementFormat::int8, ScaleFormat::fp32, 0)),
                      ContainsSubstring("block is 0"));
}

TEST_CASE("mismatched span sizes are refused") {
  const BlockCodec codec(format_of(ElementFormat::int8));  // blocks of 32
  const Floats values(64);
  Floats out(64);
  Floats scales(2);
  Bytes payload(64);
  Bytes wire(8);
  const std::span<float> one_scale = std::span(scales).first(1);
  const std::span<std::byte> short_payload = std::span(payload).first(63);
  REQUIRE_THROWS_AS(codec.find_amax(values, 0, one_scale), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.find_amax(values, 1, scales), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.encode_scales(scales, std::span(wire).first(7)), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.decode_scales(wire, one_scale), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.quantize(values, 0, one_scale, payload), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.quantize(values, 0, scales, short_payload), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.dequantize(short_payload, 0, scales, out), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.dequantize(payload, 0, one_scale, out), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.dequantize_add(payload, 0, scales, Floats(63), out),
                    std::invalid_argument);
  REQUIRE_THROWS_AS(codec.count(values, 0, one_scale), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.quantize_and_count(values, 0, one_scale, payload), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.quantize_and_count(values, 0, scales, short_payload),
                    std::invalid_argument);
}

TEST_CASE("impossible numbers of scales are refused") {
  const Floats values(64);
  Floats scales(1025);
  const BlockCodec strided({ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::strided, 0});
  REQUIRE_THROWS_AS(strided.find_amax(values, 0, scales), std::invalid_argument);
  REQUIRE_THROWS_AS(strided.find_amax(values, 0, std::span(scales).first(63)),
                    std::invalid_argument);
  REQUIRE_THROWS_AS(strided.find_amax(values, 1000, std::span(scales).first(1023)),
                    std::invalid_argument);
  REQUIRE_NOTHROW(strided.find_amax(values, 900, std::span(scales).first(1000)));
  const BlockCodec plain({.element = ElementFormat::bf16});
  REQUIRE_THROWS_AS(plain.find_amax(values, 0, std::span(scales).first(1)), std::invalid_argument);
}

TEST_CASE("int8 without scales: nearest integer, saturated, NaN becomes 0 and is counted") {
  const Floats input{0.5F, 1.5F, -2.5F, 126.5F, 127.4F, -300.0F, kInf, -kInf, kNan, 0.3F, 0.0F};
  const Floats expected{0, 2, -2, 126, 127, -127, 127, -127, 0, 0, 0};
  const BlockFormat format{.element = ElementFormat::int8};
  REQUIRE(run<BlockCodec>(format, input).values == expected);
  REQUIRE(run<ReferenceCodec>(format, input).values == expected);
  REQUIRE(BlockCodec(format).count(input, 0, {}) ==
          QuantizeCounts{.elements = 11, .clipped = 1, .flushed = 2, .non_finite = 3});
}

}  // namespace equarx::block_codec_test
