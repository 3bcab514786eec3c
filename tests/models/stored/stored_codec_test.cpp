#include "models/stored/stored_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::stored_codec_test {
namespace {

using numerics::ScaleFormat;
using testing::e2m1_format;
using testing::integer_format;
using testing::kmeans_format;
using testing::nmse;
using testing::normal_values;
using testing::stored_values;
using testing::table_format;

constexpr Scale kMinMax{.rule = RangeRule::min_max,
                        .type = ScaleFormat::fp16,
                        .zero_point = ZeroPoint::rounded,
                        .with_zero = true};
constexpr Scale kMx{.rule = RangeRule::power_of_two_down, .type = ScaleFormat::e8m0};

/// Values of a block format, by its own codec.
std::vector<float> block_values(const numerics::BlockFormat& format,
                                const std::vector<float>& values) {
  const numerics::BlockCodec codec(format);
  numerics::AlignedVector<float> amax(numerics::scale_count(format, values.size()), 0.0F);
  numerics::AlignedVector<float> scales(amax.size());
  numerics::AlignedVector<std::byte> scale_bytes(numerics::scales_bytes(format, amax.size()));
  numerics::AlignedVector<std::byte> payload(numerics::payload_bytes(format, values.size()));
  std::vector<float> decoded(values.size());
  codec.find_amax(values, 0, amax);
  codec.encode_scales(amax, scale_bytes);
  codec.decode_scales(scale_bytes, scales);
  codec.quantize(values, 0, scales, payload);
  codec.dequantize(payload, 0, scales, decoded);
  return decoded;
}

numerics::BlockFormat named(std::string_view name) {
  return std::ranges::find(numerics::named_formats(), name, &numerics::NamedFormat::name)->format;
}

void check_same_bits(const std::vector<float>& values, const std::vector<float>& expected) {
  REQUIRE(values.size() == expected.size());
  CHECK(std::memcmp(values.data(), expected.data(), values.size() * sizeof(float)) == 0);
}

/// Values of all magnitudes, with a zero block.
std::vector<float> wide_values(std::size_t count) {
  std::vector<float> values = normal_values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] *= std::ldexp(1.0F, static_cast<int>(i / 64 % 40) - 20);
  std::fill_n(values.begin() + 64, 64, 0.0F);
  return values;
}

TEST_CASE("stored codec: equals block formats of the same meaning, bit for bit") {
  const std::vector<float> values = wide_values(1 << 14);
  const Shape shape{16, 1024};
  numerics::BlockFormat int4 = named("int4");
  int4.layout = numerics::ScaleLayout::contiguous;
  int4.block = 32;
  check_same_bits(stored_values(integer_format(4, {Along::tensor, 32}), shape, values),
                  block_values(int4, values));
  check_same_bits(stored_values(e2m1_format({Along::row, 32}, kMx), shape, values),
                  block_values(named("mxfp4"), values));
  numerics::BlockFormat up = named("mxfp4");
  up.scale_rounding = numerics::ScaleRounding::up;
  Scale mx_up = kMx;
  mx_up.rule = RangeRule::power_of_two_up;
  check_same_bits(stored_values(e2m1_format({Along::row, 32}, mx_up), shape, values),
                  block_values(up, values));
  const std::vector<float> normal = normal_values(1 << 14);
  check_same_bits(
      stored_values(e2m1_format({Along::row, 16}, {.type = ScaleFormat::e4m3, .of_tensor = true}),
                    shape, normal),
      block_values(named("nvfp4"), normal));
}

TEST_CASE("stored codec: golden vector of MS-AMP for FP4, tests/operators/test_fp4_quantize.py") {
  const std::vector<float> values = {0.001F,  0.048F,  0.0997F,  0.1503F, 0.2002F,
                                     0.2497F, 0.2974F, 0.30699F, 0.4001F};
  const StoredFormat format =
      e2m1_format({}, {.rule = RangeRule::power_of_two_up, .type = ScaleFormat::fp32});
  CHECK(stored_values(format, {1, values.size()}, values) ==
        std::vector<float>{0, 0.0625, 0.125, 0.125, 0.1875, 0.25, 0.25, 0.25, 0.375});
}

TEST_CASE("stored codec: golden vector of LAQ, arXiv 1909.07588") {
  StoredFormat format =
      integer_format(3, {}, {.type = ScaleFormat::fp32, .zero_point = ZeroPoint::real});
  format.ties = Ties::up;
  const std::vector<float> last = {0.25F, -1.0F, 0.0F, 1.5F};
  const std::vector<float> gradient = {0.3F, -1.2F, 0.05F, 2.0F};
  const std::vector<float> expected = {0.321429F, -1.214286F, 0.071429F, 2.0F};
  std::vector<float> innovation(4);
  std::ranges::transform(gradient, last, innovation.begin(), std::minus<>());
  const auto quantized = stored_values(format, {1, 4}, innovation);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(last[i] + quantized[i] == Approx(expected[i]).margin(1e-6));
  CHECK(stored_bits(format, {1, 4}).total() == 32 + 3 * 4);
}

TEST_CASE("stored codec: errors of normal values are the published ones") {
  const std::vector<float> values = normal_values(1 << 20);
  const Shape shape{1024, 1024};
  const auto error = [&](const StoredFormat& format) {
    return nmse(stored_values(format, shape, values), values);
  };
  for (const auto& [length, nf4, nf3, int4, shifted4, shifted3, shifted2, levels5] :
       {std::tuple{64U, 0.00846, 0.0406, 0.01158, 0.00830, 0.0381, 0.209, 0.116},
        std::tuple{128U, 0.00914, 0.0444, 0.01377, 0.01012, 0.0465, 0.253, 0.142}}) {
    const Groups groups{Along::row, length};
    CHECK(error(table_format("nf4", 4, groups)) == Approx(nf4).epsilon(0.01));
    CHECK(error(table_format("nf3", 3, groups)) == Approx(nf3).epsilon(0.01));
    CHECK(error(integer_format(4, groups)) == Approx(int4).epsilon(0.01));
    CHECK(error(integer_format(4, groups, kMinMax)) == Approx(shifted4).epsilon(0.01));
    CHECK(error(integer_format(3, groups, kMinMax)) == Approx(shifted3).epsilon(0.01));
    CHECK(error(integer_format(2, groups, kMinMax)) == Approx(shifted2).epsilon(0.01));
    StoredFormat balanced = integer_format(3, groups, kMinMax);
    balanced.elements.levels = 5;
    CHECK(error(balanced) == Approx(levels5).epsilon(0.01));
  }
}

/// Quantiles of the normal distribution at the middles of `count` equal shares.
std::vector<float> normal_quantiles(std::size_t count) {
  std::vector<float> values;
  double x = -9.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    double high = 9.0;
    while (high - x > 1e-12) {
      const double middle = (x + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? x : high) = middle;
    }
    values.push_back(static_cast<float>(x));
  }
  return values;
}

TEST_CASE("stored codec: k-means reaches the errors of Lloyd and Max on normal rows") {
  const std::vector<float> values = normal_quantiles(50000);
  const Shape shape{1, values.size()};
  for (const auto& [bits, error] :
       {std::pair{2, 0.1175}, std::pair{3, 0.03454}, std::pair{4, 0.009497}})
    CHECK(nmse(stored_values(kmeans_format(bits, {Along::row, 0}), shape, values), values) ==
          Approx(error).epsilon(0.005));
}

TEST_CASE("stored codec: decoded values encode to themselves") {
  const std::vector<float> values = normal_values(4096);
  const Shape shape{8, 512};
  StoredFormat apart = table_format("nf4", 4, {Along::tensor, 64});
  apart.apart = {.largest = 0.01};
  for (const StoredFormat& format :
       {integer_format(4, {Along::row, 64}, {.type = ScaleFormat::fp16}),
        e2m1_format({Along::row, 32}, kMx), table_format("nf4", 4, {Along::tensor, 64}),
        kmeans_format(3, {Along::row, 0}), apart}) {
    const std::vector<float> once = stored_values(format, shape, values);
    check_same_bits(stored_values(format, shape, once), once);
  }
}

TEST_CASE("stored codec: searched ranges lose no more than whole ones, and bits help") {
  const std::vector<float> values = normal_values(1 << 14);
  const Shape shape{128, 128};
  for (const ZeroPoint zero_point : {ZeroPoint::none, ZeroPoint::rounded, ZeroPoint::real}) {
    const bool shifted = zero_point != ZeroPoint::none;
    double previous = 1.0;
    for (int bits = 2; bits <= 8; ++bits) {
      Scale scale{.rule = shifted ? RangeRule::min_max : RangeRule::abs_max,
                  .type = ScaleFormat::fp16,
                  .zero_point = zero_point};
      const double whole =
          nmse(stored_values(integer_format(bits, {Along::row, 0}, scale), shape, values), values);
      scale.rule = RangeRule::search;
      const double searched =
          nmse(stored_values(integer_format(bits, {Along::row, 0}, scale), shape, values), values);
      CHECK(searched <= whole);
      CHECK(searched < previous);
      previous = searched;
    }
  }
}

TEST_CASE("stored codec: elements apart keep their values and leave their group") {
  std::vector<float> values(100, 0.5F);
  for (std::size_t i = 0; i < 50; ++i) values[i] = -1.0F;
  values[7] = 1000.0F;
  values[8] = 0.125F;
  std::vector<float> importance(100, 1.0F);
  importance[7] = 9.0F;
  importance[8] = 8.0F;
  StoredFormat format = kmeans_format(1, {});
  format.apart = {.largest = 0.01, .important = 0.01};
  const Encoded encoded = encode(format, {1, 100}, values, importance);
  CHECK(encoded.apart == std::vector<FullValue>{{7, 1000.0F}, {8, 0.125F}});
  CHECK(encoded.tables == std::vector{-1.0F, 0.5F});
  CHECK(decode(format, encoded) == values);
}

TEST_CASE("stored codec: importance attracts the table") {
  StoredFormat format = kmeans_format(1, {});
  format.elements.weighted = true;
  const std::vector<float> values = {0.0F, 1.0F, 10.0F, 20.0F};
  CHECK(encode(format, {1, 4}, values, std::vector{1.0F, 1.0F, 1.0F, 1.0F}).tables ==
        std::vector{0.5F, 15.0F});
  CHECK(encode(format, {1, 4}, values, std::vector{1.0F, 1.0F, 9.0F, 9.0F}).tables ==
        std::vector{8.2734375F, 20.0F});
}

TEST_CASE("stored codec: a rotation and column factors are undone") {
  const std::vector<float> values = normal_values(4096);
  StoredFormat format = integer_format(8, {Along::row, 0});
  format.before.hadamard = 64;
  CHECK(nmse(stored_values(format, {64, 64}, values), values) < 1e-4);
  std::vector<float> spiked = values;
  spiked[3] = 100.0F;
  StoredFormat plain = integer_format(4, {Along::row, 0});
  StoredFormat rotated = plain;
  rotated.before.hadamard = 64;
  CHECK(nmse(stored_values(rotated, {64, 64}, spiked), spiked) <
        nmse(stored_values(plain, {64, 64}, spiked), spiked));
}

TEST_CASE("stored codec: unsuitable tensors are refused") {
  StoredFormat format = kmeans_format(2, {});
  const std::vector<float> values = {1.0F, 2.0F};
  CHECK_THROWS_WITH(encode(format, {1, 2}, std::vector{1.0F, INFINITY}),
                    ContainsSubstring("element 1 is NaN or Inf"));
  CHECK_THROWS_AS(encode(format, {1, 3}, values), std::invalid_argument);
  CHECK_THROWS_WITH(encode(format, {1, 2}, values, std::vector{1.0F, -1.0F}),
                    ContainsSubstring("negative"));
  format.elements.weighted = true;
  CHECK_THROWS_WITH(encode(format, {1, 2}, values), ContainsSubstring("needs the importance"));
}

}  // namespace
}  // namespace equarx::stored::stored_codec_test
