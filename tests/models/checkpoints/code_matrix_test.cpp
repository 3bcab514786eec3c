#include "models/checkpoints/code_matrix.hpp"

#include "tests/catch.hpp"

namespace equarx::checkpoints::code_matrix_test {
namespace {

Codes numbered(std::size_t rows, std::size_t columns, unsigned codes) {
  Codes matrix(rows, columns);
  for (std::size_t i = 0; i < matrix.data.size(); ++i)
    matrix.data[i] = static_cast<std::uint8_t>(i * 7 % codes);
  return matrix;
}

TEST_CASE("words: the first code is in the lowest bits") {
  Codes codes(1, 9);
  codes.data = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Words words = pack_rows(codes, 4);
  CHECK(static_cast<std::uint32_t>(words.data[0]) == 0x87654321U);
  CHECK(words.data[1] == 9);
}

TEST_CASE("words: codes of 3 bits cross words as in AutoGPTQ") {
  Codes codes(1, 32);
  codes.data[10] = 5;  // bits 30, 31 and 32
  codes.data[21] = 6;  // bits 63, 64 and 65
  const Words words = pack_rows(codes, 3);
  CHECK(static_cast<std::uint32_t>(words.data[0]) == 1U << 30);
  CHECK(words.data[1] == 1);
  CHECK(words.data[2] == 3);
}

TEST_CASE("words: unpacking inverts packing") {
  for (int bits = 1; bits <= 8; ++bits)
    for (const std::size_t columns : {1U, 8U, 31U, 64U, 65U}) {
      const Codes codes = numbered(3, columns, 1U << static_cast<unsigned>(bits));
      CHECK(unpack_rows(pack_rows(codes, bits), bits, columns) == codes);
    }
}

TEST_CASE("matrices: transposed twice, the same") {
  const Codes codes = numbered(33, 70, 251);
  const Codes across = transposed(codes);
  CHECK(across.at(69, 32) == codes.at(32, 69));
  CHECK(transposed(across) == codes);
}

}  // namespace
}  // namespace equarx::checkpoints::code_matrix_test
