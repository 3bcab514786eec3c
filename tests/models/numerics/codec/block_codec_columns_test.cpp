// Columns of a minishard, gathered row by row, against the whole minishard.
#include <stdexcept>

#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::numerics::block_codec_columns_test {
namespace {

BlockFormat narrow(BlockFormat format, std::size_t columns) {
  format.columns = columns;
  return format;
}

std::vector<BlockFormat> strided_formats() {
  std::vector<BlockFormat> formats;
  for (const BlockFormat& format : scaled_formats())
    if (format.layout == ScaleLayout::strided && !format.tensor_scale) formats.push_back(format);
  return formats;
}

/// Elements in `columns` columns from `first` on.
Floats gathered(const Floats& all, std::size_t first, std::size_t columns) {
  Floats some;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % kRegisterElements - first < columns) some.push_back(all[i]);
  return some;
}

Floats sums_amax(const BlockFormat& format, const Floats& input, const Result& coded) {
  const BlockCodec codec(format);
  Floats sums(input.size());
  Floats amax(coded.amax.size());
  codec.dequantize_add_amax(coded.payload, 0, coded.scales, input, sums, amax);
  CHECK(same(sums, coded.sums));
  return amax;
}

QuantizeCounts counts(const BlockFormat& format, const Floats& input, const Result& coded) {
  return BlockCodec(format).count(input, 0, coded.scales);
}

void check_columns(const BlockFormat& format, const Floats& input, std::size_t columns) {
  const Result whole = run<BlockCodec>(format, input);
  const Floats whole_amax = sums_amax(format, input, whole);
  QuantizeCounts all;
  for (std::size_t first = 0; first < kRegisterElements; first += columns) {
    const BlockFormat part = narrow(format, columns);
    const Floats some = gathered(input, first, columns);
    const std::size_t rows = some.size() / columns;
    const Result got = run<BlockCodec>(part, some, {rows / 3 * columns + 17, some.size()});
    CHECK(same(got.values, gathered(whole.values, first, columns)));
    CHECK(same(got.sums, gathered(whole.sums, first, columns)));
    CHECK(same(got.amax, gathered(whole.amax, first, columns)));
    CHECK(same(got.scales, gathered(whole.scales, first, columns)));
    const Result at_once = run<BlockCodec>(part, some);
    CHECK(same(at_once.values, got.values));
    CHECK(same(sums_amax(part, some, at_once), gathered(whole_amax, first, columns)));
    all += counts(part, some, at_once);
  }
  CHECK(all == counts(format, input, whole));
}

TEST_CASE("columns have the scales, values, sums and counts of the whole minishard") {
  std::mt19937 random(11);
  on_every_target([&] {
    for (const BlockFormat& format : strided_formats())
      for (const Kind kind : {Kind::normal, Kind::any_bits, Kind::sparse})
        for (const std::size_t columns : {64U, 256U, 1024U}) {
          INFO(describe(format) << ", " << columns << " columns");
          check_columns(format, draw_many(kind, 9 * kRegisterElements + 300, random), columns);
        }
  });
}

TEST_CASE("a minishard of fewer elements than columns has one group per element") {
  const BlockFormat format = narrow({.element = ElementFormat::int8, .scaled = true}, 128);
  CHECK(scale_count(format, 100) == 100);
  CHECK(scale_count(format, 129) == 128);
  CHECK_FALSE(same_groups(format, narrow(format, 256)));
  CHECK(same_groups(format, format));
}

TEST_CASE("numbers of columns that vectors do not divide are refused") {
  for (const std::size_t columns : {0U, 1U, 32U, 100U, 2048U})
    CHECK_THROWS_AS(BlockCodec(narrow({.element = ElementFormat::int8, .scaled = true}, columns)),
                    std::invalid_argument);
}

}  // namespace
}  // namespace equarx::numerics::block_codec_columns_test
