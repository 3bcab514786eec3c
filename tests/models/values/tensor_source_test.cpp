#include "models/values/tensor_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"
#include "tests/catch.hpp"

namespace equarx::tensor_source_test {

using namespace equarx::values;
using equarx::numerics::Distribution;
using equarx::numerics::ElementFormat;
using equarx::numerics::InputSpec;

namespace {

std::vector<float> read(const TensorSource& source, std::uint32_t rank, std::uint64_t first,
                        std::size_t count) {
  std::vector<float> values(count, -1.0F);
  source.read(rank, first, values);
  return values;
}

}  // namespace

TEST_CASE("a tensor does not depend on the order of reads") {
  const TensorSource source(equarx::numerics::InputSpec{.seed = 3}, 1000, ElementFormat::fp32);
  const std::vector<float> whole = read(source, 2, 0, 1000);
  for (const std::size_t first : {0, 1, 255, 999})
    for (const std::size_t count : {0, 1, 300})
      for (std::size_t i = 0; i < count && first + i < whole.size(); ++i)
        REQUIRE(read(source, 2, first, count)[i] == whole[first + i]);
}

TEST_CASE("fewer ranks have the sums of groups, in FP32 and in order") {
  const TensorSource source(InputSpec{.seed = 5}, 500, ElementFormat::bf16);
  const TensorSource fewer = TensorSource::grouped(source, 3);
  for (const std::uint32_t rank : {0U, 1U}) {
    std::vector<float> sums(100, 0.0F);
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::vector<float> term = read(source, 3 * rank + i, 50, 100);
      for (std::size_t j = 0; j < 100; ++j) sums[j] += term[j];
    }
    round_to_tensor(ElementFormat::bf16, sums);
    CHECK(read(fewer, rank, 50, 100) == sums);
  }
}

TEST_CASE("a prefix has the first elements of each rank, then zeros") {
  const TensorSource source(InputSpec{.seed = 5}, 500, ElementFormat::bf16);
  const TensorSource prefix = TensorSource::prefix(source, 120);
  CHECK(prefix.elements() == 120);
  const std::vector<float> values = read(prefix, 2, 100, 40);
  for (std::size_t i = 0; i < 40; ++i)
    CHECK(values[i] == (i < 20 ? read(source, 2, 100 + i, 1)[0] : 0.0F));
}

TEST_CASE("a caching source has the same values, past its end too") {
  const TensorSource source(equarx::numerics::InputSpec{.seed = 3}, 10'000, ElementFormat::bf16);
  TensorSource kept = source;
  kept.keep(1 << 20);
  for (const std::uint64_t first : {0, 4095, 9'000})
    for (const std::uint32_t rank : {0U, 5U}) {
      REQUIRE(read(kept, rank, first, 3'000) == read(source, rank, first, 3'000));
      REQUIRE(read(kept, rank, first, 3'000) == read(source, rank, first, 3'000));
    }
}

TEST_CASE("rows are read from one register to the next, past the end too") {
  const TensorSource source(InputSpec{.seed = 3}, 10'000, ElementFormat::bf16);
  TensorSource kept = source;
  kept.keep(1 << 20);
  std::vector<float> rows(10 * 64 + 7);
  for (const TensorSource& from : {source, kept, kept}) {
    from.read_rows(2, 320, 64, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      REQUIRE(rows[i] == read(source, 2, 320 + i / 64 * 1024 + i % 64, 1)[0]);
  }
}

TEST_CASE("an FP32 tensor holds the generator's values") {
  const InputSpec spec{.distribution = Distribution::uniform, .seed = 4};
  const TensorSource source(spec, 500, ElementFormat::fp32);
  std::vector<float> generated(500);
  equarx::numerics::generate(spec, 1, 0, generated);
  REQUIRE(read(source, 1, 0, 500) == generated);
  REQUIRE(source.elements() == 500);
  REQUIRE(source.format() == ElementFormat::fp32);
}

TEST_CASE("a bf16 tensor holds the nearest bf16 values") {
  const InputSpec spec{.seed = 5};
  const std::vector<float> exact = read({spec, 500, ElementFormat::fp32}, 0, 0, 500);
  const std::vector<float> rounded = read({spec, 500, ElementFormat::bf16}, 0, 0, 500);
  REQUIRE(rounded != exact);
  for (std::size_t i = 0; i < exact.size(); ++i)
    REQUIRE(rounded[i] ==
            equarx::numerics::float_from_bf16(equarx::numerics::bf16_from_float(exact[i])));
}

TEST_CASE("ranks have their own tensors, or all the same one") {
  const TensorSource own(equarx::numerics::InputSpec{.seed = 6}, 100, ElementFormat::fp32);
  REQUIRE(read(own, 0, 0, 100) != read(own, 1, 0, 100));
  const TensorSource same({.seed = 6, .identical_ranks = true}, 100, ElementFormat::fp32);
  REQUIRE(read(same, 0, 0, 100) == read(same, 7, 0, 100));
}

TEST_CASE("a tensor is padded with zeros past its end") {
  const TensorSource source(equarx::numerics::InputSpec{.seed = 7}, 10, ElementFormat::bf16);
  const std::vector<float> values = read(source, 0, 8, 5);
  REQUIRE(values[0] != 0.0F);
  REQUIRE(values[1] != 0.0F);
  REQUIRE(std::all_of(values.begin() + 2, values.end(), [](float v) { return v == 0.0F; }));
  REQUIRE(read(source, 0, 10, 3) == std::vector<float>(3, 0.0F));
  REQUIRE(read(source, 0, 1'000'000, 3) == std::vector<float>(3, 0.0F));
}

TEST_CASE("an fp16 or FP8 tensor holds the nearest values of its type") {
  const InputSpec spec{.seed = 5};
  const std::vector<float> exact = read({spec, 500, ElementFormat::fp32}, 0, 0, 500);
  for (const auto& [format, step] :
       {std::pair{ElementFormat::fp16, 0x1p-11F}, std::pair{ElementFormat::fp8_e4m3, 0x1p-4F},
        std::pair{ElementFormat::fp8_e5m2, 0x1p-3F}}) {
    const std::vector<float> rounded = read({spec, 500, format}, 0, 0, 500);
    REQUIRE(rounded != exact);
    std::vector<float> again = rounded;
    round_to_tensor(format, again);
    REQUIRE(again == rounded);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      if (std::abs(exact[i]) < 0x1p-6F) continue;  // subnormals of E4M3
      REQUIRE(std::abs(rounded[i] - exact[i]) <= step * std::abs(exact[i]));
    }
  }
}

TEST_CASE("other tensor types are refused") {
  std::vector<float> values(3);
  REQUIRE_THROWS_WITH(round_to_tensor(ElementFormat::int8, values),
                      ContainsSubstring("int8 is not a tensor type"));
  const TensorSource source(equarx::numerics::InputSpec{}, 3, ElementFormat::fp4_e2m1);
  REQUIRE_THROWS_AS(source.read(0, 0, values), std::logic_error);
}

TEST_CASE("tensors in memory are read by rank, rounded and padded like others") {
  using equarx::tensors::FileType;
  using equarx::tensors::MemoryTensor;
  const std::vector<float> first = {1.0F, 2.0F, 1.0F + 0x1p-20F};
  const std::vector<float> second = {4.0F, 5.0F, 6.0F};
  const std::vector<MemoryTensor> ranks = {
      MemoryTensor(FileType::fp32, std::as_bytes(std::span(first))),
      MemoryTensor(FileType::fp32, std::as_bytes(std::span(second)))};
  const TensorSource exact(ranks, 3, ElementFormat::fp32);
  REQUIRE(read(exact, 0, 0, 3) == first);
  REQUIRE(read(exact, 1, 1, 4) == std::vector<float>{5.0F, 6.0F, 0.0F, 0.0F});
  REQUIRE(read(exact, 1, 7, 2) == std::vector<float>(2, 0.0F));
  const TensorSource rounded(ranks, 3, ElementFormat::bf16);
  REQUIRE(read(rounded, 0, 0, 3) == std::vector<float>{1.0F, 2.0F, 1.0F});
}

TEST_CASE("stored bf16 has its own values in a bf16 tensor, and rounded ones in another type") {
  std::vector<std::uint16_t> all(std::size_t{1} << 16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const std::vector<equarx::tensors::MemoryTensor> ranks = {
      {equarx::tensors::FileType::bf16, std::as_bytes(std::span(all))}};
  const auto same = read(TensorSource(ranks, all.size(), ElementFormat::bf16), 0, 0, all.size());
  const auto fp16 = read(TensorSource(ranks, all.size(), ElementFormat::fp16), 0, 0, all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float value = equarx::numerics::float_from_bf16(all[i]);
    const float rounded =
        equarx::numerics::float_from_fp16(equarx::numerics::fp16_from_float(value));
    INFO(i);
    REQUIRE((std::isnan(value) ? std::isnan(same[i]) : same[i] == value));
    REQUIRE((std::isnan(rounded) ? std::isnan(fp16[i]) : fp16[i] == rounded));
  }
}

}  // namespace equarx::tensor_source_test
