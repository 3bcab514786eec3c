#include "models/numerics/codec/rule_codec.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::numerics::rule_codec_test {
namespace {

TEST_CASE("every named format has a codec, which shares a scale exactly if has_shared_scale()") {
  for (const NamedFormat& named : named_formats()) {
    CAPTURE(named.name);
    const auto codec = make_rule_codec(named.format);
    REQUIRE(codec != nullptr);
    if (has_shared_scale(named.format))
      CHECK(codec->share(1.0F, 2)->step() > 0.0F);
    else
      CHECK_THROWS_AS(codec->share(1.0F, 2), std::logic_error);
  }
}

TEST_CASE("a value that is no scale rule is refused") {
  BlockFormat format;
  format.rule = static_cast<ScaleRule>(99);
  CHECK_THROWS_AS(make_rule_codec(format), std::logic_error);
}

}  // namespace
}  // namespace equarx::numerics::rule_codec_test
