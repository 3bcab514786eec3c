// Exact sums of products of integer codes, in ways that agree bit for bit: the products of an int8
// unit, bit planes (ABQ-LLM, arXiv 2408.08554) and a table of products (DeepGEMM, arXiv 2304.09049).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace equarx::gemm {

/// Sum of products of signed values. @pre equal sizes, sums within int32
std::int32_t sum_of_values(std::span<const std::int16_t> a, std::span<const std::int16_t> b);

/// Unsigned codes of several rows as planes of bits, 64 columns in a word. Rows are padded with 0.
class BitPlanes {
 public:
  /// `codes`: rows of `columns` codes, all below 2^bits.
  BitPlanes(std::span<const std::uint8_t> codes, std::size_t columns, int bits);

  /// Sum of products of one row of each: the sum over planes i, j of 2^(i + j) popcount(a_i & b_j).
  /// @pre equal columns
  friend std::int64_t sum_of_planes(const BitPlanes& a, std::size_t row_of_a, const BitPlanes& b,
                                    std::size_t row_of_b);

 private:
  std::span<const std::uint64_t> plane(std::size_t row, int bit) const;

  int bits_;
  std::size_t words_;  ///< of a plane
  std::vector<std::uint64_t> planes_;
};

std::int64_t sum_of_planes(const BitPlanes& a, std::size_t row_of_a, const BitPlanes& b,
                           std::size_t row_of_b);

/// Products of all pairs of unsigned codes, indexed by a shifted left by the bits of b, or b.
class ProductTable {
 public:
  /// @pre bits of both at most 8
  ProductTable(int bits_of_a, int bits_of_b);

  /// Sum of products. @pre equal sizes
  std::int64_t sum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) const;

 private:
  unsigned shift_;
  std::vector<std::int32_t> products_;
};

}  // namespace equarx::gemm
