#include "models/stored/stored_format.hpp"

#include <limits>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::stored_format_test {
namespace {

void check_refused(const StoredFormat& format, const std::string& remedy) {
  CHECK_THROWS_WITH(check(format), ContainsSubstring(remedy));
}

TEST_CASE("stored format: bits include scales, zero points, tables and elements apart") {
  const Shape shape{4, 128};
  const Scale fp16{.type = numerics::ScaleFormat::fp16};
  CHECK(stored_bits(testing::integer_format(4, {Along::row, 32}, fp16), shape).total() ==
        512 * 4 + 16 * 16);
  const Scale shifted{.rule = RangeRule::min_max,
                      .type = numerics::ScaleFormat::fp16,
                      .zero_point = ZeroPoint::rounded};
  CHECK(stored_bits(testing::integer_format(3, {Along::row, 0}, shifted), shape).total() ==
        512 * 3 + 4 * (16 + 3));
  StoredFormat fitted = testing::kmeans_format(3, {Along::row, 0});
  fitted.apart = {.largest = 0.01, .important = 0.005};
  const StoredBits bits = stored_bits(fitted, shape);
  CHECK(bits.tables == 4 * 8 * 16);
  CHECK(bits.apart == (5 + 3) * (16 + 32));
  CHECK(bits.total() == 512 * 3 + bits.tables + bits.apart);
}

TEST_CASE("stored format: groups contain every element once") {
  for (const Groups groups :
       {Groups{Along::tensor, 7}, Groups{Along::tensor, 0}, Groups{Along::row, 3},
        Groups{Along::column, 2}, Groups{Along::column, 0}, Groups{Along::strided, 5},
        Groups{Along::block, 4, 3}, Groups{Along::block, 6, 4}}) {
    std::vector<int> seen(24, 0);
    const std::vector<Group> all = groups_of(groups, {4, 6});
    CHECK(group_count(groups, {4, 6}) == all.size());
    for (const Group& group : all)
      for (std::size_t n = 0; n < group.count; ++n) ++seen.at(group.index(n));
    CHECK(seen == std::vector<int>(24, 1));
  }
  CHECK_THROWS_AS(groups_of({Along::row, 5}, {4, 6}), std::invalid_argument);
  CHECK_THROWS_AS(groups_of({Along::strided, 0}, {4, 6}), std::invalid_argument);
  CHECK_THROWS_AS(groups_of({Along::block, 0, 2}, {4, 6}), std::invalid_argument);
}

TEST_CASE("stored format: blocks join rows and columns") {
  const std::vector<Group> blocks = groups_of({Along::block, 4, 2}, {3, 6});
  REQUIRE(blocks.size() == 4);
  std::vector<std::size_t> indices;
  for (std::size_t n = 0; n < blocks[1].count; ++n) indices.push_back(blocks[1].index(n));
  CHECK(indices == std::vector<std::size_t>{4, 5, 10, 11});
  CHECK(blocks[3].count == 2);
  CHECK_THROWS_AS(group_count({Along::row, 5}, {4, 6}), std::invalid_argument);
}

TEST_CASE("stored format: minifloats have the magnitudes of their codes") {
  Elements elements{.kind = ElementKind::minifloat};
  CHECK(magnitudes(elements) == std::vector<float>{0, 0.5, 1, 1.5, 2, 3, 4, 6});
  elements = {.kind = ElementKind::minifloat,
              .bits = 8,
              .exponent_bits = 4,
              .mantissa_bits = 3,
              .bias = 7,
              .specials = Specials::nan};
  CHECK(largest_element(elements) == 448.0F);
  CHECK(magnitudes(elements)[1] == 0x1p-9F);
  elements = {.kind = ElementKind::minifloat,
              .bits = 8,
              .exponent_bits = 5,
              .mantissa_bits = 2,
              .bias = 15,
              .specials = Specials::ieee};
  CHECK(largest_element(elements) == 57344.0F);
}

TEST_CASE("stored format: contradictions are refused with their remedy") {
  StoredFormat format = testing::integer_format(2);
  format.elements.levels = 5;
  check_refused(format, "2 bits have 4 codes, not 5 levels; give 2 to 4");
  format = testing::table_format("nf2", 2, {});
  format.elements.table = {-1.0F, 0.5F, 0.25F};
  check_refused(format, "sort it");
  format.elements.table.back() = std::numeric_limits<float>::infinity();
  check_refused(format, "beyond FP32");
  check_refused(testing::integer_format(4, {}, {.rule = RangeRule::min_max}), "needs a zero point");
  check_refused(testing::integer_format(4, {}, {.type = numerics::ScaleFormat::e8m0}),
                "power-of-two-up");
  format = testing::kmeans_format(3, {});
  format.scale.type = numerics::ScaleFormat::fp16;
  check_refused(format, "remove the scale");
  format = testing::integer_format(4);
  format.before.hadamard = 12;
  check_refused(format, "power of two");
  format.before.hadamard = 16;
  CHECK_NOTHROW(check(format));
  format.before.column_factors = {1.0, 1e300};
  check_refused(format, "no normal FP32 number");
}

}  // namespace
}  // namespace equarx::stored::stored_format_test
