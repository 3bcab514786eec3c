#include "models/stored/packed_codec.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "models/stored/quantizer.hpp"
#include "models/stored/scalar_codec.hpp"
#include "tests/catch.hpp"
#include "tests/models/numerics/codec/codecs.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::packed_codec_test {
namespace {

using numerics::ScaleFormat;

constexpr float kMost = std::numeric_limits<float>::max();

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

/// Zeros of both signs, subnormal and largest values, and powers of two, among normal values.
std::vector<float> special_values(std::size_t count) {
  const std::vector<float> specials = {0.0F,     -0.0F, 0x1p-149F, -0x1p-149F, 0x1p-126F, 1.0F,
                                       -0x1p20F, 0.5F,  0x1.8p-3F, kMost,      -kMost,    0x1p127F};
  std::vector<float> values = testing::normal_values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t block = i / 256;
    if (block % 4 == 1 && i % 3 == 0) values[i] = specials[i % 5];
    if (block % 4 == 2 && i % 7 == 0) values[i] = specials[i % specials.size()];
    if (block % 4 == 3) values[i] = std::round(values[i] * 4.0F) / 4.0F;
  }
  return values;
}

StoredFormat minifloat_format(int exponent_bits, int mantissa_bits, Specials specials,
                              const Groups& groups, const Scale& scale) {
  StoredFormat format = testing::e2m1_format(groups, scale);
  format.elements.bits = 1 + exponent_bits + mantissa_bits;
  format.elements.levels = 1U << static_cast<unsigned>(format.elements.bits);
  format.elements.exponent_bits = exponent_bits;
  format.elements.mantissa_bits = mantissa_bits;
  format.elements.bias = (1 << (exponent_bits - 1)) - 1;
  format.elements.specials = specials;
  return format;
}

void check_equal(const StoredFormat& format, const Shape& shape, const std::vector<float>& values) {
  REQUIRE(has_kernels(format, shape));
  const Encoded expected = encode_scalar(format, shape, values, {});
  for (const unsigned threads : {1U, 3U}) {
    const Packed packed = encode_packed(format, shape, values, threads);
    const Encoded encoded = unpacked(format, packed);
    REQUIRE(encoded.codes == expected.codes);
    REQUIRE(bits_of(encoded.scales) == bits_of(expected.scales));
    REQUIRE(bits_of(encoded.zero_points) == bits_of(expected.zero_points));
    REQUIRE(encoded.tensor_scale == expected.tensor_scale);
    REQUIRE(stored::packed(format, encoded).codes == packed.codes);
    const std::vector<float> decoded = decode_packed(format, packed, threads);
    REQUIRE(bits_of(decoded) == bits_of(decode_scalar(format, expected)));
    REQUIRE(std::ranges::all_of(decoded, [](float x) { return std::isfinite(x); }));
  }
}

/// Formats with groups of `length` consecutive elements.
std::vector<StoredFormat> formats(const Groups& groups) {
  std::vector<StoredFormat> all;
  for (const ScaleFormat type : {ScaleFormat::fp32, ScaleFormat::fp16, ScaleFormat::bf16})
    for (const int bits : {2, 3, 4, 5, 8}) {
      all.push_back(testing::integer_format(bits, groups, {.type = type}));
      for (const ZeroPoint zero : {ZeroPoint::rounded, ZeroPoint::real})
        for (const bool with_zero : {true, false})
          all.push_back(testing::integer_format(bits, groups,
                                                {.rule = RangeRule::min_max,
                                                 .type = type,
                                                 .zero_point = zero,
                                                 .with_zero = with_zero}));
    }
  all.push_back(testing::integer_format(
      1, groups, {.rule = RangeRule::min_max, .zero_point = ZeroPoint::rounded}));
  all.push_back(testing::integer_format(4, groups, {.rule = RangeRule::given, .value = 2.0}));
  all.push_back(testing::integer_format(4, groups, {.at_least = 0.125}));
  for (const auto& [name, bits] : {std::pair{"nf2", 2}, {"nf3", 3}, {"nf4", 4}, {"fp4", 4}})
    all.push_back(testing::table_format(name, bits, groups));
  for (const RangeRule rule : {RangeRule::power_of_two_up, RangeRule::power_of_two_down})
    all.push_back(testing::e2m1_format(groups, {.rule = rule, .type = ScaleFormat::e8m0}));
  all.push_back(testing::e2m1_format(groups, {.type = ScaleFormat::e4m3, .of_tensor = true}));
  all.push_back(minifloat_format(4, 3, Specials::nan, groups, {}));
  all.push_back(minifloat_format(5, 2, Specials::ieee, groups, {.type = ScaleFormat::bf16}));
  all.push_back(minifloat_format(3, 2, Specials::none, groups, {}));
  return all;
}

TEST_CASE("packed codec: every format and size has the bits of the scalar codec") {
  for (const auto& [groups, shape] : {std::pair{Groups{Along::row, 128}, Shape{16, 1024}},
                                      {Groups{Along::row, 0}, Shape{3, 4808}},
                                      {Groups{Along::row, 8}, Shape{40, 264}},
                                      {Groups{Along::tensor, 64}, Shape{7, 333}},
                                      {Groups{Along::tensor, 0}, Shape{5, 1801}},
                                      {Groups{Along::tensor, 24}, Shape{1, 1}},
                                      {Groups{Along::tensor, 70000}, Shape{2, 70001}}}) {
    const std::vector<float> values = special_values(shape.elements());
    for (const StoredFormat& format : formats(groups)) {
      CAPTURE(static_cast<int>(groups.along), groups.length, format.elements.bits,
              static_cast<int>(format.elements.kind), static_cast<int>(format.scale.rule),
              static_cast<int>(format.scale.zero_point), static_cast<int>(format.scale.type));
      check_equal(format, shape, values);
    }
  }
}

TEST_CASE("packed codec: values next to ties between codes round as quotients do") {
  for (const float end : {1.0F, 0.7F, 3.1F, 1e-30F, 0x1p-122F, 1e30F, 0x1p127F}) {
    const Scale scale{.rule = RangeRule::given, .value = end};
    std::vector<StoredFormat> all = {testing::integer_format(8, {Along::row, 64}, scale),
                                     testing::table_format("nf4", 4, {Along::row, 64}),
                                     testing::e2m1_format({Along::row, 64}, scale)};
    all[1].scale = scale;
    for (const StoredFormat& format : all) {
      const float step = encode_scalar(format, {1, 64}, std::vector<float>(64), {}).scales[0];
      const Quantizer quantizer(format);
      std::vector<float> values;
      const std::vector<float> numbers = quantizer.numbers();
      for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        float value = (numbers[i] + numbers[i + 1]) / 2.0F * step;
        for (int ulp = 0; ulp < 4; ++ulp) value = std::nextafter(value, -kMost);
        for (int ulp = 0; ulp < 8; ++ulp) {
          values.push_back(value);
          value = std::nextafter(value, kMost);
        }
      }
      values.resize((values.size() + 63) / 64 * 64);
      check_equal(format, {values.size() / 64, 64}, values);
    }
  }
}

TEST_CASE("packed codec: every instruction set gives the same bits") {
  const Shape shape{9, 1000};
  const std::vector<float> values = special_values(shape.elements());
  numerics::on_every_target([&] {
    for (const StoredFormat& format : formats({Along::row, 40})) check_equal(format, shape, values);
  });
}

TEST_CASE("packed codec: a value that is not finite is named, the first of all") {
  const StoredFormat format = testing::integer_format(4, {Along::tensor, 64});
  std::vector<float> values = testing::normal_values(200000);
  values[150001] = std::numeric_limits<float>::infinity();
  values[70003] = std::numeric_limits<float>::quiet_NaN();
  for (const unsigned threads : {1U, 4U})
    CHECK_THROWS_WITH(encode_packed(format, {1, values.size()}, values, threads),
                      ContainsSubstring("element 70003 is NaN or Inf"));
}

TEST_CASE("packed codec: formats without kernels") {
  const Shape shape{4, 128};
  const auto kernels = [&](auto change) {
    StoredFormat format = testing::integer_format(4, {Along::row, 64});
    change(format);
    return has_kernels(format, shape);
  };
  CHECK(kernels([](StoredFormat&) {}));
  CHECK(!kernels([](StoredFormat& f) { f.groups.along = Along::column; }));
  CHECK(!kernels([](StoredFormat& f) { f.groups.length = 4; }));
  CHECK(!kernels([](StoredFormat& f) { f.groups.length = 96; }));
  CHECK(!kernels([](StoredFormat& f) { f.ties = Ties::away; }));
  CHECK(!kernels([](StoredFormat& f) { f.scale.rule = RangeRule::search; }));
  CHECK(!kernels([](StoredFormat& f) { f.apart.largest = 0.1; }));
  CHECK(!kernels([](StoredFormat& f) { f.before.hadamard = 4; }));
  CHECK(!has_kernels(testing::kmeans_format(3, {Along::row, 64}), shape));
}

}  // namespace
}  // namespace equarx::stored::packed_codec_test
