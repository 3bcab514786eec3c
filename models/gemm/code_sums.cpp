#include "models/gemm/code_sums.hpp"

#include <bit>
#include <cstddef>

namespace equarx::gemm {
namespace {

constexpr std::size_t kWordBits = 64;

}  // namespace

std::int32_t sum_of_values(std::span<const std::int16_t> a, std::span<const std::int16_t> b) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<std::int32_t>(a[i]) * static_cast<std::int32_t>(b[i]);
  return sum;
}

BitPlanes::BitPlanes(std::span<const std::uint8_t> codes, std::size_t columns, int bits)
    : bits_(bits), words_((columns + kWordBits - 1) / kWordBits) {
  const std::size_t rows = columns == 0 ? 0 : codes.size() / columns;
  const auto planes = static_cast<std::size_t>(bits);
  planes_.resize(rows * planes * words_);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t column = i % columns;
    for (std::size_t bit = 0; bit < planes; ++bit)
      planes_[(i / columns * planes + bit) * words_ + column / kWordBits] |=
          std::uint64_t{(codes[i] >> bit) & 1U} << (column % kWordBits);
  }
}

std::span<const std::uint64_t> BitPlanes::plane(std::size_t row, int bit) const {
  const std::size_t index = row * static_cast<std::size_t>(bits_) + static_cast<std::size_t>(bit);
  return std::span(planes_).subspan(index * words_, words_);
}

std::int64_t sum_of_planes(const BitPlanes& a, std::size_t row_of_a, const BitPlanes& b,
                           std::size_t row_of_b) {
  std::int64_t sum = 0;
  for (int i = 0; i < a.bits_; ++i)
    for (int j = 0; j < b.bits_; ++j) {
      const auto plane_a = a.plane(row_of_a, i);
      const auto plane_b = b.plane(row_of_b, j);
      std::int64_t count = 0;
      for (std::size_t w = 0; w < plane_a.size(); ++w)
        count += std::popcount(plane_a[w] & plane_b[w]);
      sum += count << static_cast<unsigned>(i + j);
    }
  return sum;
}

ProductTable::ProductTable(int bits_of_a, int bits_of_b)
    : shift_(static_cast<unsigned>(bits_of_b)),
      products_(std::size_t{1} << static_cast<unsigned>(bits_of_a + bits_of_b)) {
  for (std::size_t i = 0; i < products_.size(); ++i)
    products_[i] =
        static_cast<std::int32_t>((i >> shift_) * (i & ((std::size_t{1} << shift_) - 1)));
}

std::int64_t ProductTable::sum(std::span<const std::uint8_t> a,
                               std::span<const std::uint8_t> b) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += products_[static_cast<std::size_t>(a[i]) << shift_ | b[i]];
  return sum;
}

}  // namespace equarx::gemm
