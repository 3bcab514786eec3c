#include "models/numerics/random/philox.hpp"

#include "tests/catch.hpp"

namespace equarx::philox_test {

using namespace equarx::numerics;

// Known answers of philox4x32_10, published with Random123 (D. E. Shaw Research) in kat_vectors.
TEST_CASE("Philox4x32-10 matches the published vectors") {
  REQUIRE(philox4x32({0, 0, 0, 0}, {0, 0}) ==
          PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  REQUIRE(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
          PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  REQUIRE(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

}  // namespace equarx::philox_test
