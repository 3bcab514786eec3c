#include "models/numerics/codec/round_values.hpp"

#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::round_values_test {

using namespace equarx::numerics;

TEST_CASE("rounding values matches encoding and decoding by the oracle at every length") {
  std::mt19937 random(5);
  for (const ElementFormat format : kTensorFormats)
    for (const std::size_t length : {0, 1, 31, 4096, 4097, 10000})
      for (const Kind kind : {Kind::normal, Kind::any_bits, Kind::huge}) {
        CAPTURE(name(format), length, static_cast<int>(kind));
        const Floats values = draw_many(kind, length, random);
        Floats rounded = values;
        round_to_element(format, rounded);
        REQUIRE(same(rounded, run<ReferenceCodec>({.element = format}, values).values));
      }
}

TEST_CASE("out-of-range values saturate in FP8 and become Inf in fp16") {
  const auto rounded = [](ElementFormat format, Floats values) {
    round_to_element(format, values);
    return values;
  };
  CHECK(rounded(ElementFormat::fp8_e4m3, {449.0F, -1e9F}) == Floats{448.0F, -448.0F});
  CHECK(rounded(ElementFormat::fp8_e5m2, {60000.0F, -1e9F}) == Floats{57344.0F, -57344.0F});
  CHECK(rounded(ElementFormat::fp16, {65519.0F, 65520.0F}) == Floats{65504.0F, kInf});
}

TEST_CASE("rounding to types that require scales is refused") {
  Floats values(3);
  REQUIRE_THROWS_AS(round_to_element(ElementFormat::int4, values), std::invalid_argument);
}

}  // namespace equarx::round_values_test
