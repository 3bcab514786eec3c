#include "models/gemm/code_sums.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::gemm::code_sums_test {
namespace {

std::vector<std::uint8_t> random_codes(std::mt19937& random, std::size_t count, int bits) {
  std::vector<std::uint8_t> codes(count);
  for (std::uint8_t& code : codes)
    code = static_cast<std::uint8_t>(random() & ((1U << static_cast<unsigned>(bits)) - 1));
  return codes;
}

/// Sum of products of one row of each.
std::int64_t slow_sum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::int64_t{a[i]} * b[i];
  return sum;
}

TEST_CASE("code sums: products, bit planes and tables agree for all widths") {
  std::mt19937 random(1);
  for (int bits_a = 1; bits_a <= 8; ++bits_a)
    for (int bits_b = 1; bits_b <= 8; ++bits_b)
      for (const std::size_t columns : {1U, 63U, 64U, 65U, 200U}) {
        const auto a = random_codes(random, 3 * columns, bits_a);
        const auto b = random_codes(random, 2 * columns, bits_b);
        const BitPlanes planes_a(a, columns, bits_a);
        const BitPlanes planes_b(b, columns, bits_b);
        const auto row_a = std::span(a).subspan(2 * columns, columns);
        const auto row_b = std::span(b).subspan(columns, columns);
        const std::int64_t expected = slow_sum(row_a, row_b);
        CHECK(sum_of_planes(planes_a, 2, planes_b, 1) == expected);
        CHECK(ProductTable(bits_a, bits_b).sum(row_a, row_b) == expected);
        CHECK(sum_of_values(std::vector<std::int16_t>(row_a.begin(), row_a.end()),
                            std::vector<std::int16_t>(row_b.begin(), row_b.end())) == expected);
      }
}

TEST_CASE("code sums: negative values keep their sign") {
  CHECK(sum_of_values(std::vector<std::int16_t>{-127, 5, -255},
                      std::vector<std::int16_t>{127, -3, -255}) == -127 * 127 - 15 + 255 * 255);
}

}  // namespace
}  // namespace equarx::gemm::code_sums_test
