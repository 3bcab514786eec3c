#include "models/attention/errors.hpp"

#include <cmath>
#include <limits>

#include "models/attention/drawn.hpp"
#include "models/attention/stored_cache.hpp"
#include "tests/catch.hpp"

namespace equarx::attention::errors_test {
namespace {

constexpr double kSpread = 2.0;

stored::StoredFormat integers(int bits, stored::Groups groups) {
  stored::StoredFormat format;
  format.elements.bits = bits;
  format.elements.levels = (1U << bits) - 1;
  format.groups = groups;
  return format;
}

const stored::Groups kPerToken{.along = stored::Along::row};
const stored::Groups kPerChannel{.along = stored::Along::column};

/// A drawn cache and queries, with stored copies.
struct Bench {
  DrawnCache cache;
  std::vector<float> queries;
  std::vector<float> keys;    ///< stored
  std::vector<float> values;  ///< stored
  std::size_t rows;
  std::size_t heads;
  bool causal = false;

  explicit Bench(CacheShape shape = {.tokens = 128, .heads = 2, .head_size = 64},
                 std::size_t query_rows = 8, std::size_t query_heads = 4)
      : cache(shape, 1),
        queries(drawn_queries(cache.view(), query_rows, query_heads, kSpread, 1)),
        keys(cache.keys),
        values(cache.values),
        rows(query_rows),
        heads(query_heads) {}

  void store(const stored::StoredFormat& of_keys, const stored::StoredFormat& of_values) {
    const StoredCache stored(cache.view(), {.keys = of_keys, .values = of_values});
    keys = stored.keys;
    values = stored.values;
  }

  Errors errors(unsigned threads = 1) const {
    return attention::errors(cache.view(), {.shape = cache.shape, .keys = keys, .values = values},
                             {.rows = rows, .heads = heads, .values = queries, .causal = causal},
                             threads);
  }
};

/// Output i of a query, by definition, without a shift of the exponents.
double slow_output(const Bench& bench, const std::vector<float>& keys,
                   const std::vector<float>& values, std::size_t row, std::size_t head,
                   std::size_t i) {
  const CacheShape& shape = bench.cache.shape;
  const std::size_t tokens = bench.causal ? shape.tokens - bench.rows + row + 1 : shape.tokens;
  const std::size_t shared = head * shape.heads / bench.heads;
  double above = 0.0;
  double below = 0.0;
  for (std::size_t token = 0; token < tokens; ++token) {
    const std::size_t first = (token * shape.heads + shared) * shape.head_size;
    double logit = 0.0;
    for (std::size_t k = 0; k < shape.head_size; ++k)
      logit +=
          static_cast<double>(bench.queries[(row * bench.heads + head) * shape.head_size + k]) *
          keys[first + k];
    const double weight = std::exp(logit / std::sqrt(static_cast<double>(shape.head_size)));
    above += weight * values[first + i];
    below += weight;
  }
  return above / below;
}

double slow_nmse(const Bench& bench, const std::vector<float>& keys,
                 const std::vector<float>& values) {
  double error = 0.0;
  double power = 0.0;
  for (std::size_t row = 0; row < bench.rows; ++row)
    for (std::size_t head = 0; head < bench.heads; ++head)
      for (std::size_t i = 0; i < bench.cache.shape.head_size; ++i) {
        const double exact = slow_output(bench, bench.cache.keys, bench.cache.values, row, head, i);
        const double difference = slow_output(bench, keys, values, row, head, i) - exact;
        error += difference * difference;
        power += exact * exact;
      }
  return error / power;
}

TEST_CASE("errors of attention equal a slow reference") {
  Bench bench({.tokens = 12, .heads = 2, .head_size = 32}, 3, 4);
  bench.store(integers(4, kPerToken), integers(3, kPerToken));
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    bench.causal = causal;
    const Errors found = bench.errors();
    const std::vector<float>& keys = bench.cache.keys;
    const std::vector<float>& values = bench.cache.values;
    CHECK(found.keys_nmse == Approx(slow_nmse(bench, bench.keys, values)).epsilon(1e-9));
    CHECK(found.values_nmse == Approx(slow_nmse(bench, keys, bench.values)).epsilon(1e-9));
    CHECK(found.both_nmse == Approx(slow_nmse(bench, bench.keys, bench.values)).epsilon(1e-9));
  }
}

TEST_CASE("unchanged keys and values have no error, and threads change nothing") {
  Bench bench;
  const Errors none = bench.errors();
  CHECK(none.both_nmse == 0.0);
  CHECK(none.largest_change == 0.0);
  bench.store(integers(4, kPerToken), integers(4, kPerToken));
  CHECK(bench.errors(1).both_nmse == bench.errors(3).both_nmse);
  CHECK(bench.errors().largest_change > 0.0);
  CHECK(bench.errors().largest_change < 1.0);
}

TEST_CASE("errors of attention fall with the bits of keys and values") {
  Bench bench;
  double last = std::numeric_limits<double>::infinity();
  for (const int bits : {3, 4, 5, 6, 7, 8}) {
    CAPTURE(bits);
    bench.store(integers(bits, kPerToken), integers(bits, kPerToken));
    CHECK(bench.errors().both_nmse < last);
    last = bench.errors().both_nmse;
  }
  CHECK(last < 0.01);
}

TEST_CASE("scales per channel suit keys with outlier channels, scales per token suit values") {
  Bench bench;
  bench.store(integers(4, kPerToken), integers(4, kPerToken));
  const Errors per_token = bench.errors();
  bench.store(integers(4, kPerChannel), integers(4, kPerToken));
  const Errors per_channel = bench.errors();
  CHECK(per_channel.keys_nmse < per_token.keys_nmse / 4);
  CHECK(per_channel.values_nmse == per_token.values_nmse);
}

TEST_CASE("a factor on stored values scales the output") {
  Bench bench;
  for (float& value : bench.values) value *= 1.5F;
  CHECK(bench.errors().values_nmse == Approx(0.25).epsilon(1e-6));
  CHECK(bench.errors().both_nmse == Approx(0.25).epsilon(1e-6));
}

TEST_CASE("an equal shift of all keys changes no probability") {
  Bench bench;
  for (std::size_t i = 0; i < bench.keys.size(); ++i)
    bench.keys[i] += i % bench.cache.shape.columns() == 3 ? 4.0F : 0.0F;
  CHECK(bench.errors().keys_nmse < 1e-10);
}

TEST_CASE("a causal query of the first token returns its value") {
  Bench bench({.tokens = 4, .heads = 1, .head_size = 8}, 4, 1);
  bench.causal = true;
  bench.values[0] += 1.0F;
  const double with_first = bench.errors().values_nmse;
  bench.causal = false;
  CHECK(with_first > bench.errors().values_nmse);
}

TEST_CASE("tensors that disagree or are not finite are refused") {
  Bench bench;
  const auto check_refused = [&](const std::string& message) {
    CHECK_THROWS_WITH(bench.errors(), ContainsSubstring(message));
  };
  bench.keys[5] = std::numeric_limits<float>::quiet_NaN();
  check_refused("NaN or Inf");
  bench.keys.pop_back();
  check_refused("sizes of the cache");
  Bench others;
  others.heads = 3;
  CHECK_THROWS_WITH(others.errors(), ContainsSubstring("multiple"));
  Bench many({.tokens = 2, .heads = 1, .head_size = 8}, 3, 1);
  many.causal = true;
  CHECK_THROWS_WITH(many.errors(), ContainsSubstring("more than keys"));
}

}  // namespace
}  // namespace equarx::attention::errors_test
