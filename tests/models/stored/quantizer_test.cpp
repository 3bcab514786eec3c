#include "models/stored/quantizer.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::quantizer_test {
namespace {

std::vector<float> rounded_by(StoredFormat format, Ties ties, const std::vector<float>& values) {
  format.ties = ties;
  const Quantizer quantizer(format);
  std::vector<float> result;
  for (const float value : values) result.push_back(quantizer.value(quantizer.code(value, {}), {}));
  return result;
}

TEST_CASE("quantizer: ties follow the format") {
  const std::vector<float> halves = {0.5F, 1.5F, -0.5F, -1.5F};
  const StoredFormat integer = testing::integer_format(4);
  CHECK(rounded_by(integer, Ties::even, halves) == std::vector{0.0F, 2.0F, 0.0F, -2.0F});
  CHECK(rounded_by(integer, Ties::away, halves) == std::vector{1.0F, 2.0F, -1.0F, -2.0F});
  CHECK(rounded_by(integer, Ties::up, halves) == std::vector{1.0F, 2.0F, 0.0F, -1.0F});
  const StoredFormat e2m1 = testing::e2m1_format({}, {});
  const std::vector<float> middles = {0.25F, 5.0F, -5.0F, 2.5F, 9.0F};
  CHECK(rounded_by(e2m1, Ties::even, middles) == std::vector{0.0F, 4.0F, -4.0F, 2.0F, 6.0F});
  CHECK(rounded_by(e2m1, Ties::away, middles) == std::vector{0.5F, 6.0F, -6.0F, 3.0F, 6.0F});
  CHECK(rounded_by(e2m1, Ties::up, middles) == std::vector{0.5F, 6.0F, -4.0F, 3.0F, 6.0F});
}

TEST_CASE("quantizer: values between two entries of a table become the nearest, or the lower one") {
  const std::vector<float> table = {-1.0F, 0.0F, 0.5F};
  CHECK(nearest(table, 0.25F) == 1);
  CHECK(nearest(table, 0.2501F) == 2);
  CHECK(nearest(table, -0.5F) == 0);
  CHECK(nearest(table, 7.0F) == 2);
}

TEST_CASE("quantizer: scales saturate in their type, and zero groups have the smallest") {
  const Quantizer fp16(testing::integer_format(4, {}, {.type = numerics::ScaleFormat::fp16}));
  CHECK(fp16.scale_of(std::vector{1e9F}, 1.0F).scale == 65504.0F);
  CHECK(fp16.scale_of(std::vector{0.0F}, 1.0F).scale == 0x1p-24F);
  CHECK(Quantizer(testing::integer_format(4, {}, {.at_least = 1e-5}))
            .scale_of(std::vector{0.0F}, 1.0F)
            .scale == 1e-5F);
}

TEST_CASE("quantizer: the largest values decode to finite ones") {
  constexpr float kMost = std::numeric_limits<float>::max();
  const std::vector<float> values = {kMost, -kMost, 0.9F * kMost, 1.0F};
  using enum numerics::ScaleFormat;
  std::vector<StoredFormat> formats = {
      testing::e2m1_format({}, {.rule = RangeRule::power_of_two_up, .type = e8m0}),
      testing::e2m1_format({}, {.type = e4m3, .of_tensor = true})};
  for (const numerics::ScaleFormat type : {fp32, bf16})
    for (const RangeRule rule : {RangeRule::min_max, RangeRule::search, RangeRule::quantile})
      for (const ZeroPoint zero : {ZeroPoint::none, ZeroPoint::rounded, ZeroPoint::real}) {
        const bool plain = zero == ZeroPoint::none && rule == RangeRule::min_max;
        formats.push_back(testing::integer_format(
            4, {}, {.rule = plain ? RangeRule::abs_max : rule, .type = type, .zero_point = zero}));
      }
  for (const StoredFormat& format : formats)
    for (const std::vector<float>& some : {values, std::vector{kMost, 0.99F * kMost}})
      for (const float value : testing::stored_values(format, {1, some.size()}, some))
        CHECK(std::isfinite(value));
}

TEST_CASE("quantizer: quantiles and given ranges clip") {
  std::vector<float> values;
  for (int i = 0; i <= 100; ++i) values.push_back(static_cast<float>(i));
  const Scale quantile{.rule = RangeRule::quantile, .quantile = 0.9};
  CHECK(Quantizer(testing::integer_format(4, {}, quantile)).scale_of(values, 1.0F).scale ==
        90.0F / 7.0F);
  Scale shifted = quantile;
  shifted.zero_point = ZeroPoint::real;
  const Quantizer ends(testing::integer_format(4, {}, shifted));
  const GroupScale group = ends.scale_of(values, 1.0F);
  CHECK(group.scale == 80.0F / 15.0F);
  CHECK(group.zero_point == 10.0F);
  CHECK(ends.code(0.0F, group) == 0);
  CHECK(ends.code(100.0F, group) == 15);
  const Scale given{.rule = RangeRule::given, .value = 14.0};
  CHECK(Quantizer(testing::integer_format(4, {}, given)).scale_of(values, 1.0F).scale == 2.0F);
}

TEST_CASE("quantizer: an even number of levels adds a negative code") {
  StoredFormat format = testing::integer_format(4, {}, {.largest = 8.0});
  format.elements.levels = 16;
  const Quantizer quantizer(format);
  const GroupScale group = quantizer.scale_of(std::vector{-8.0F, 8.0F}, 1.0F);
  CHECK(group.scale == 1.0F);
  CHECK(quantizer.code(-8.0F, group) == -8);
  CHECK(quantizer.code(8.0F, group) == 7);
}

}  // namespace
}  // namespace equarx::stored::quantizer_test
