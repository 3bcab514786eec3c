#include "experiments/vectors/cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/input/errors.hpp"
#include "models/numerics/codec/round_values.hpp"
#include "tests/catch.hpp"

namespace equarx::vectors::cases_test {
namespace {

using numerics::ElementFormat;

double sum(const std::vector<std::vector<float>>& inputs, std::size_t element) {
  double total = 0.0;
  for (const std::vector<float>& input : inputs) total += double{input[element]};
  return total;
}

/// Elements for which `holds`.
template <typename Holds>
std::size_t count(const std::vector<std::vector<float>>& inputs, Holds holds) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < inputs.front().size(); ++i) found += holds(i) ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("all inputs are values of the type, of the size of the case") {
  for (const CaseInfo& info : all_cases()) {
    if (info.name == kGiven) continue;
    for (const ElementFormat type : numerics::kTensorFormats)
      for (const std::uint32_t ranks : {2U, 3U, 8U, 64U}) {
        const auto inputs = inputs_of(info.name, type, ranks);
        CAPTURE(info.name, numerics::name(type), ranks);
        REQUIRE(inputs.size() == ranks);
        for (const std::vector<float>& input : inputs) {
          REQUIRE(input.size() == elements_of(info.name, ranks));
          std::vector<float> rounded = input;
          numerics::round_to_element(type, rounded);
          CHECK(std::memcmp(rounded.data(), input.data(), input.size() * sizeof(float)) == 0);
        }
        if (info.name != "nonfinite") CHECK(inputs == inputs_of(info.name, type, ranks));  // NaN
      }
  }
}

TEST_CASE("sizes divide by the ranks, but in two cases") {
  CHECK(elements_of("one-element", 8) == 1);
  CHECK(elements_of("uneven", 8) == 8 * 16 + 3);
  CHECK(elements_of("ties", 6) == 252);
  CHECK(elements_of("normal", 8) == 1024);
}

TEST_CASE("ties lie in the middle of two values of bf16") {
  const auto inputs = inputs_of("ties", ElementFormat::bf16, 8);
  const auto is_tie = [&](std::size_t i) {
    const double steps = std::ldexp(sum(inputs, i), 8);  // of half a step of [1, 2)
    return sum(inputs, i) < 2.0 && steps == std::floor(steps) && std::fmod(steps, 2.0) == 1.0;
  };
  CHECK(count(inputs, is_tie) >= 64);
}

TEST_CASE("subnormals are below the smallest normal value, and some sums are not") {
  const auto inputs = inputs_of("subnormals", ElementFormat::fp16, 8);
  for (const std::vector<float>& input : inputs)
    CHECK(std::ranges::all_of(input, [](float x) { return std::fabs(x) < 0x1p-14F; }));
  const auto is_normal = [&](std::size_t i) { return std::fabs(sum(inputs, i)) >= 0x1p-14; };
  const std::size_t normal = count(inputs, is_normal);
  CHECK(normal > 20);
  CHECK(normal < inputs.front().size() - 20);
}

TEST_CASE("the largest values overflow, reach and miss the limit of fp16") {
  const auto inputs = inputs_of("largest", ElementFormat::fp16, 4);
  CHECK(count(inputs, [&](std::size_t i) { return std::fabs(sum(inputs, i)) > 65520.0; }) > 30);
  CHECK(count(inputs, [&](std::size_t i) { return std::fabs(sum(inputs, i)) == 65504.0; }) > 30);
  CHECK(count(inputs, [&](std::size_t i) { return std::fabs(sum(inputs, i)) == 65520.0; }) > 10);
  CHECK(count(inputs, [&](std::size_t i) { return sum(inputs, i) == 0.0; }) > 10);
}

TEST_CASE("half of the case with NaN and Inf is finite") {
  const auto inputs = inputs_of("nonfinite", ElementFormat::bf16, 8);
  const auto is_nan = [&](std::size_t i) { return std::isnan(sum(inputs, i)); };
  const auto is_inf = [&](std::size_t i) { return std::isinf(sum(inputs, i)); };
  CHECK(count(inputs, is_nan) == 2 * 16);
  CHECK(count(inputs, is_inf) == 2 * 16);
  for (std::size_t i = inputs.front().size() / 2; i < inputs.front().size(); ++i)
    CHECK(std::isfinite(sum(inputs, i)));
}

TEST_CASE("zeros of all signs, and large values that cancel") {
  const auto zeros = inputs_of("zeros", ElementFormat::bf16, 4);
  for (std::size_t i = 0; i < zeros.front().size(); ++i) CHECK(sum(zeros, i) == 0.0);
  CHECK(std::signbit(zeros[0][1]));
  CHECK_FALSE(std::signbit(zeros[0][0]));
  const auto cancelling = inputs_of("cancellation", ElementFormat::fp32, 4);
  CHECK(cancelling[0][0] == 1e8F);
  for (std::size_t i = 0; i < 8; ++i) CHECK(sum(cancelling, i) == 2.0);
}

TEST_CASE("cases are chosen by name, and a misspelt one has a remedy") {
  CHECK(select_cases({}).size() == all_cases().size());
  const auto two = select_cases({"largest", "ties", "largest"});
  REQUIRE(two.size() == 2);
  CHECK(two[0].name == "largest");
  CHECK_THROWS_WITH(select_cases({"tie"}), ContainsSubstring("did you mean 'ties'?"));
  CHECK_THROWS_AS(select_cases({""}), input::InputError);
}

}  // namespace equarx::vectors::cases_test
