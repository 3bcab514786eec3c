#include "models/values/value_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::values::value_cache_test {
namespace {

using numerics::ElementFormat;

/// Values that encode their own position, and the number of pieces computed.
struct Counted {
  std::atomic<int> made = 0;

  ValueCache::Make make() {
    return [this](std::uint32_t rank, std::uint64_t first, std::span<float> values) {
      ++made;
      std::iota(values.begin(), values.end(), static_cast<float>(1'000'000 * rank + first));
    };
  }
};

void check_read(ValueCache& cache, std::uint32_t rank, std::uint64_t first, std::size_t count) {
  std::vector<float> values(count);
  cache.read(rank, first, values);
  for (std::size_t i = 0; i < count; ++i)
    REQUIRE(values[i] == static_cast<float>(1'000'000 * rank + first + i));
}

TEST_CASE("repeated reads do not recompute values, in pieces of any size") {
  Counted counted;
  ValueCache cache(64 << 20, ElementFormat::fp32, counted.make());
  check_read(cache, 3, 0, 20'000);
  const int made = counted.made;
  CHECK(made == 5);  // pieces of 4096
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t first = random() % 20'000;
    check_read(cache, 3, first, random() % (20'000 - first + 1));
  }
  CHECK(counted.made == made);
  check_read(cache, 4, 0, 10);
  CHECK(counted.made == made + 1);
}

TEST_CASE("values over the limit are recomputed on each read") {
  Counted counted;
  ValueCache cache(0, ElementFormat::fp32, counted.make());
  check_read(cache, 0, 0, 4096);
  check_read(cache, 0, 0, 4096);
  CHECK(counted.made == 2);
}

TEST_CASE("only what is read over the limit is computed") {
  std::vector<std::size_t> sizes;
  ValueCache cache(0, ElementFormat::fp32,
                   [&](std::uint32_t, std::uint64_t, std::span<float> values) {
                     sizes.push_back(values.size());
                     std::ranges::fill(values, 1.0F);
                   });
  std::vector<float> values(600);
  cache.read(0, 4096 - 256, values);
  CHECK(sizes == std::vector<std::size_t>{256, 344});
}

TEST_CASE("values are rounded to their type, kept or not, with its bits") {
  for (const ElementFormat format : numerics::kTensorFormats) {
    CAPTURE(name(format));
    const numerics::BlockCodec codec({.element = format});
    std::vector<float> made(8192);
    std::iota(made.begin(), made.end(), -4000.5F);
    for (float& value : made) value /= 64.0F;
    made[7] = -0.0F;
    made[8] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> expected = made;
    std::vector<std::byte> bytes(numerics::payload_bytes(codec.format(), expected.size()));
    codec.quantize(expected, 0, {}, bytes);
    codec.dequantize(bytes, 0, {}, expected);
    for (const std::uint64_t most_bytes : {0, 1 << 20}) {
      ValueCache cache(most_bytes, format,
                       [&](std::uint32_t, std::uint64_t first, std::span<float> values) {
                         std::copy_n(&made[first], values.size(), values.begin());
                       });
      std::vector<float> values(5001);
      for (int times = 0; times < 2; ++times) {
        cache.read(0, 5, values);
        CHECK(std::memcmp(values.data(), &expected[5], values.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("several threads read the same values") {
  Counted counted;
  ValueCache cache(64 << 20, ElementFormat::fp32, counted.make());
  std::vector<std::vector<float>> read(4, std::vector<float>(50'000));
  {
    std::vector<std::jthread> threads;
    for (auto& values : read) threads.emplace_back([&cache, &values] { cache.read(1, 7, values); });
  }
  for (const auto& values : read) CHECK(values == read.front());
  CHECK(read.front().front() == 1'000'007.0F);
}

}  // namespace
}  // namespace equarx::values::value_cache_test
