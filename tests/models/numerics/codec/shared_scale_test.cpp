#include "models/numerics/codec/shared_scale.hpp"

#include <limits>
#include <stdexcept>

#include "models/numerics/codec/block_codec.hpp"
#include "tests/catch.hpp"

namespace equarx::numerics::shared_scale_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

BlockFormat fp8lm() { return {.element = ElementFormat::fp8_e4m3, .rule = ScaleRule::fp8lm}; }

BlockFormat global_qsgd() {
  return {.element = ElementFormat::int8, .rule = ScaleRule::global_qsgd};
}

TEST_CASE("a shared scale refuses other formats and too many ranks") {
  CHECK_THROWS_AS(SharedScale({}, 1.0F, 2), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(fp8lm(), -1.0F, 2), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(fp8lm(), kNan, 2), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(fp8lm(), 1.0F, 0), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(global_qsgd(), 1.0F, 128), std::invalid_argument);
  CHECK_NOTHROW(SharedScale(fp8lm(), 1.0F, 4096));
}

TEST_CASE("a shared scale excludes scales of groups and stochastic rounding of sums") {
  for (const BlockFormat& good : {fp8lm(), global_qsgd()}) {
    BlockFormat format = good;
    format.scaled = true;
    CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
    format = good;
    format.rounding = Rounding::stochastic;  // supported for casts, not for sums
    CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
    format = good;
    format.tensor_scale = true;
    CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  }
}

}  // namespace
}  // namespace equarx::numerics::shared_scale_test
