#include "models/stored/code_bits.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace equarx::stored::code_bits_test {
namespace {

TEST_CASE("packed codes: the first is in the lowest bits") {
  std::vector<std::byte> packed(2);
  pack_bits(std::vector<std::uint8_t>{1, 2, 0xf7}, 3, packed.data());
  CHECK(packed == std::vector{std::byte{0b11010001}, std::byte{0b1}});
}

TEST_CASE("packed codes: unpacking inverts packing") {
  for (int bits = 1; bits <= 8; ++bits)
    for (const std::size_t count : {0U, 1U, 7U, 8U, 129U}) {
      std::vector<std::uint8_t> codes;
      for (std::size_t i = 0; i < count; ++i)
        codes.push_back(
            static_cast<std::uint8_t>((i * 37 + 5) % (1U << static_cast<unsigned>(bits))));
      std::vector<std::byte> packed(packed_bytes(bits, count));
      pack_bits(codes, bits, packed.data());
      std::vector<std::uint8_t> back(count);
      unpack_bits(packed.data(), bits, back);
      CHECK(back == codes);
    }
}

}  // namespace
}  // namespace equarx::stored::code_bits_test
