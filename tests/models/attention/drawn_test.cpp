#include "models/attention/drawn.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::attention::drawn_test {
namespace {

TEST_CASE("few channels of drawn keys are large for all tokens, and none of values") {
  const DrawnCache cache({.tokens = 400, .heads = 2, .head_size = 64}, 3);
  const std::size_t columns = cache.shape.columns();
  std::vector<double> keys(columns, 0.0);
  std::vector<double> values(columns, 0.0);
  for (std::size_t i = 0; i < cache.keys.size(); ++i) {
    keys[i % columns] += cache.keys[i] / 400;
    values[i % columns] += cache.values[i] / 400;
  }
  const auto is_large = [](double mean) { return std::abs(std::abs(mean) - 8.0) < 0.25; };
  CHECK(std::ranges::count_if(keys, is_large) == 4);
  CHECK(std::ranges::count_if(keys, [](double mean) { return std::abs(mean) < 0.25; }) == 124);
  CHECK(std::ranges::none_of(values, [](double mean) { return std::abs(mean) > 0.25; }));
}

TEST_CASE("drawn queries have logits of the given spread") {
  const DrawnCache cache({.tokens = 50, .heads = 2, .head_size = 32}, 1);
  const std::vector<float> queries = drawn_queries(cache.view(), 2, 4, 1.5, 1);
  for (std::size_t query = 0; query < 8; ++query) {
    CAPTURE(query);
    const std::size_t head = query % 4 / 2;
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t token = 0; token < 50; ++token) {
      double logit = 0.0;
      for (std::size_t i = 0; i < 32; ++i)
        logit += static_cast<double>(queries[query * 32 + i]) *
                 cache.keys[(token * 2 + head) * 32 + i] / std::sqrt(32.0);
      sum += logit / 50;
      squares += logit * logit / 50;
    }
    CHECK(std::sqrt(squares - sum * sum) == Approx(1.5).epsilon(1e-4));
  }
  CHECK(queries == drawn_queries(cache.view(), 2, 4, 1.5, 1));
  CHECK(queries != drawn_queries(cache.view(), 2, 4, 1.5, 2));
}

TEST_CASE("queries whose logits are all equal stay as drawn") {
  const DrawnCache cache({.tokens = 1, .heads = 1, .head_size = 4}, 1);
  for (const float value : drawn_queries(cache.view(), 1, 1, 2.0, 1)) CHECK(std::isfinite(value));
}

}  // namespace
}  // namespace equarx::attention::drawn_test
