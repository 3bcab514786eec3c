#include "models/numerics/elements/bit_packing.hpp"

#include <cstddef>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::bit_packing_test {

using namespace equarx::numerics;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> numbers) {
  Bytes result;
  for (const int number : numbers) result.push_back(static_cast<std::byte>(number));
  return result;
}

}  // namespace

TEST_CASE("the first code is in the lowest bits, and unused bits of the last byte are 0") {
  Bytes packed(2, std::byte{0xff});
  pack_codes<4>(bytes({0x1, 0xf2, 0x3}).data(), 3, packed.data());
  REQUIRE(packed == bytes({0x21, 0x03}));
  Bytes six(3, std::byte{0xff});
  pack_codes<6>(bytes({0x3f, 0x00, 0x2a}).data(), 3, six.data());
  REQUIRE(six == bytes({0x3f, 0xa0, 0x02}));
}

TEST_CASE("codes of all values round-trip through packing at every length, with their sign") {
  for (std::size_t count = 0; count <= 70; ++count) {
    Bytes four;
    Bytes six;
    for (std::size_t i = 0; i < count; ++i) {
      four.push_back(static_cast<std::byte>(static_cast<int>(i % 16) - 8));
      six.push_back(static_cast<std::byte>(i % 64));
    }
    Bytes packed(count);  // more than enough
    Bytes unpacked(count);
    pack_codes<4>(four.data(), count, packed.data());
    unpack_codes<4, true>(packed.data(), count, unpacked.data());
    REQUIRE(unpacked == four);
    pack_codes<6>(six.data(), count, packed.data());
    unpack_codes<6, false>(packed.data(), count, unpacked.data());
    REQUIRE(unpacked == six);
  }
}

}  // namespace equarx::bit_packing_test
