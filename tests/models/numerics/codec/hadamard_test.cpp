#include "models/numerics/codec/hadamard.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::numerics::hadamard_test {
namespace {

using Floats = std::vector<float>;

Floats integers(std::mt19937& random, std::size_t count) {
  Floats values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 8191) - 4095);
  return values;
}

Floats rotated(Floats values) {
  rotate(values);
  return values;
}

/// Matrix product, element by element.
Floats product(const Floats& values) {
  Floats result = values;
  for (std::size_t begin = 0; begin + 32 <= values.size(); begin += 32)
    for (std::size_t i = 0; i < 32; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < 32; ++j)
        sum += (std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0) * double{values[begin + j]};
      result[begin + i] = static_cast<float>(sum);
    }
  return result;
}

TEST_CASE("Hadamard: matches the matrix product for integers, with an exact inverse") {
  std::mt19937 random(1);
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 64U, 95U, 4096U}) {
    const Floats values = integers(random, count);
    Floats result = rotated(values);
    CHECK(result == product(values));
    rotate_back(result);
    CHECK(result == values);
  }
}

TEST_CASE("Hadamard: a partial block at the end is unchanged") {
  Floats values(40, 1.0F);
  rotate(values);
  CHECK(values[0] == 32.0F);
  for (std::size_t i = 1; i < 32; ++i) CHECK(values[i] == 0.0F);
  for (std::size_t i = 32; i < 40; ++i) CHECK(values[i] == 1.0F);
}

TEST_CASE("Hadamard: an outlier spreads evenly over its block") {
  Floats values(32);
  values[13] = -100.0F;
  for (const float value : rotated(values)) CHECK(std::abs(value) == 100.0F);
}

TEST_CASE("Hadamard: the rotation is linear") {
  std::mt19937 random(2);
  const Floats one = integers(random, 4096);
  const Floats other = integers(random, 4096);
  Floats sum(one.size());
  Floats of_rotated(one.size());
  const Floats first = rotated(one);
  const Floats second = rotated(other);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = one[i] + other[i];
    of_rotated[i] = first[i] + second[i];
  }
  CHECK(rotated(sum) == of_rotated);
}

TEST_CASE(
    "Hadamard: the inverse is exact up to rounding, and non-finite values spread over the block") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Floats values(3200);
  for (float& value : values) value = normal(random);
  Floats result = rotated(values);
  const Floats expected = product(values);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::abs(result[i] - expected[i]) < 32 * 5 * 0x1p-22F);
  rotate_back(result);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::abs(result[i] - values[i]) < 10 * 5 * 0x1p-22F);
  for (const float special :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Floats block(64, 1.0F);
    block[40] = special;
    rotate(block);
    rotate_back(block);
    for (std::size_t i = 0; i < 64; ++i) CHECK(std::isfinite(block[i]) == (i < 32));
  }
}

}  // namespace
}  // namespace equarx::numerics::hadamard_test
