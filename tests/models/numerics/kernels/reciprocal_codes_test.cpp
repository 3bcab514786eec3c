#include "models/numerics/kernels/reciprocal_codes.hpp"

#include <random>

#include "tests/models/numerics/codec/reciprocal_codecs.hpp"
#include "tests/models/numerics/kernels/scalar_checks.hpp"
#include "tests/support/scalar_reciprocal.hpp"

namespace equarx::numerics::reciprocal_codes_test {
namespace {

using namespace scalar_checks;

std::vector<BlockFormat> formats() {
  std::vector<BlockFormat> all;
  for (const ElementFormat element : reciprocal_codecs::kElements)
    for (const std::size_t block : {5U, 16U, 128U, 2048U}) {
      all.push_back(reciprocal_codecs::zeropp(element, block));
      all.push_back(reciprocal_codecs::sdp4bit(element, block));
    }
  return all;
}

TEST_CASE("kernels of ZeRO++ and SDP4Bit give the bits of the scalar codec, for any bits") {
  on_every_target([] {
    std::mt19937 random(1);
    for (const BlockFormat& format : formats())
      for (const Kind kind : kKinds)
        for (const std::size_t first : {0U, 7U, 2043U})
          for (const std::size_t count : {1U, 3U, 65U, 130U, 2500U}) {
            INFO(describe(format) << " kind " << static_cast<int>(kind) << " from " << first << ", "
                                  << count);
            check_piece(format, *testing::scalar_reciprocal::make(format),
                        drawn(kind, first, count, random));
          }
  });
}

TEST_CASE("kernels of ZeRO++ keep an amax found before, above zeros and NaN") {
  on_every_target([] {
    const kernels::Piece piece{reciprocal_codecs::zeropp(ElementFormat::int8, 4)};
    Floats amax = {0.0F, 0.0F, 2.0F, 0.0F};
    kernels::reciprocal::find_half_amax(
        piece,
        Floats{0.0F, -0.0F, kNan, 0.0F, 1.0F, -3.0F, kNan, 0.0F, -1.0F, kNan, 1.0F, 0.0F, kNan},
        amax.data());
    CHECK(amax[0] == kTiny);
    CHECK(amax[1] == 3.0F);
    CHECK(amax[2] == 2.0F);
    CHECK(std::isnan(amax[3]));
  });
}

}  // namespace
}  // namespace equarx::numerics::reciprocal_codes_test
