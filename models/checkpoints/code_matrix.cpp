#include "models/checkpoints/code_matrix.hpp"

namespace equarx::checkpoints {

Words pack_rows(const Codes& codes, int bits) {
  Words words(codes.rows, word_count(codes.columns, bits));
  for (std::size_t row = 0; row < codes.rows; ++row) {
    std::uint64_t buffer = 0;
    int filled = 0;
    std::size_t word = 0;
    for (std::size_t column = 0; column < codes.columns; ++column) {
      buffer |= std::uint64_t{codes.at(row, column)} << filled;
      filled += bits;
      if (filled < 32) continue;
      words.at(row, word++) = static_cast<std::int32_t>(buffer);
      buffer >>= 32;
      filled -= 32;
    }
    if (filled > 0) words.at(row, word) = static_cast<std::int32_t>(buffer);
  }
  return words;
}

Codes unpack_rows(const Words& words, int bits, std::size_t columns) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  Codes codes(words.rows, columns);
  for (std::size_t row = 0; row < words.rows; ++row) {
    std::uint64_t buffer = 0;
    int filled = 0;
    std::size_t word = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      if (filled < bits) {
        buffer |= std::uint64_t{static_cast<std::uint32_t>(words.at(row, word++))} << filled;
        filled += 32;
      }
      codes.at(row, column) = static_cast<std::uint8_t>(buffer & mask);
      buffer >>= bits;
      filled -= bits;
    }
  }
  return codes;
}

}  // namespace equarx::checkpoints
