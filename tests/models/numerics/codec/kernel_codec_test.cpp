#include "models/numerics/codec/kernel_codec.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::numerics::kernel_codec_test {
namespace {

constexpr BlockFormat kInt8{ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::contiguous,
                            2};

TEST_CASE("a kernel codec adds with and without the amax of the sums") {
  const KernelCodec codec(kInt8);
  const std::array<float, 2> scales = {0.5F, 2.0F};
  const std::array payload = {std::byte{4}, std::byte{0xff}, std::byte{3}};
  const std::array<float, 3> local = {1.0F, -7.0F, 0.5F};
  std::array<float, 3> sums{};
  std::array<float, 2> amax{};
  codec.dequantize_add({0, scales}, payload, local, sums, {});
  CHECK(sums == std::array<float, 3>{3.0F, -7.5F, 6.5F});
  CHECK(amax == std::array<float, 2>{});
  codec.dequantize_add({0, scales}, payload, local, sums, amax);
  CHECK(amax == std::array<float, 2>{7.5F, 6.5F});
}

TEST_CASE("a kernel codec refuses elements, scales and layouts without kernels") {
  const auto refused = [](auto change) {
    BlockFormat format = kInt8;
    change(format);
    CHECK_THROWS_AS(KernelCodec(format), std::invalid_argument);
  };
  refused([](BlockFormat& format) { format.element = ElementFormat::exp8; });
  refused([](BlockFormat& format) { format.scale = ScaleFormat::fp16; });
  refused([](BlockFormat& format) { format.layout = ScaleLayout::paired; });
}

}  // namespace
}  // namespace equarx::numerics::kernel_codec_test
