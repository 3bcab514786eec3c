#include "models/numerics/codec/own_codec.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "tests/catch.hpp"

namespace equarx::numerics::own_codec_test {
namespace {

constexpr BlockFormat kOwn{.element = ElementFormat::fp32,
                           .scaled = true,
                           .layout = ScaleLayout::contiguous,
                           .block = 4,
                           .rule = ScaleRule::own,
                           .own = {.bits_per_element = 3.0}};

/// Rounds to whole numbers.
BlockCodec rounding_codec() {
  return {kOwn, make_own_codec([](std::span<const float> values, std::span<float> decoded) {
            for (std::size_t i = 0; i < values.size(); ++i) decoded[i] = std::nearbyint(values[i]);
          })};
}

TEST_CASE("an own codec decodes what its function writes, and adds it in FP32") {
  const BlockCodec codec = rounding_codec();
  const std::vector<float> values = {0.4F, -1.6F, 2.5F, 1e9F, 7.0F};
  const std::vector<float> rounded = {0.0F, -2.0F, 2.0F, 1e9F, 7.0F};
  AlignedVector<std::byte> payload(held_bytes(kOwn, values.size()));
  codec.quantize(values, 0, {}, payload);
  std::vector<float> decoded(values.size());
  codec.dequantize(payload, 0, {}, decoded);
  CHECK(decoded == rounded);
  std::vector<float> sums(values.size(), 0.5F);
  codec.dequantize_add(payload, 0, {}, sums, sums);
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == rounded[i] + 0.5F);
}

TEST_CASE("own codes have no scales, and nothing of them is counted as clipped or flushed") {
  const BlockCodec codec = rounding_codec();
  const std::vector<float> values(8, 0.1F);
  const QuantizeCounts counts = codec.count(values, 0, {});
  CHECK(counts.elements == 8);
  CHECK(counts.clipped == 0);
  CHECK(counts.flushed == 0);
  std::vector<float> scale(1);
  REQUIRE_THROWS_AS(codec.dequantize({}, 0, scale, {}), std::invalid_argument);
}

TEST_CASE("an exception of the function reaches the caller") {
  const BlockCodec codec(kOwn, make_own_codec([](auto, auto) { throw std::runtime_error("no"); }));
  AlignedVector<std::byte> payload(4);
  const std::vector<float> values(1);
  REQUIRE_THROWS_WITH(codec.quantize(values, 0, {}, payload), "no");
}

TEST_CASE("an own format needs its codec, and others ignore it") {
  REQUIRE_THROWS_AS(BlockCodec(kOwn), std::invalid_argument);
  REQUIRE_THROWS_AS(BlockCodec(kOwn, nullptr), std::invalid_argument);
  const BlockCodec plain({.element = ElementFormat::bf16}, nullptr);
  CHECK(plain.format().element == ElementFormat::bf16);
}

TEST_CASE("payloads are held decoded") {
  CHECK(held_bytes(kOwn, 10) == 40);
  CHECK(payload_bytes(kOwn, 10) == 4);
  CHECK(held_bytes({.element = ElementFormat::int4}, 10) == 5);
}

}  // namespace
}  // namespace equarx::numerics::own_codec_test
