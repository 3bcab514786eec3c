#include "models/attention/errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/os/parallel_for.hpp"

namespace equarx::attention {
namespace {

void require(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

bool is_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

void check(const Cache& cache) {
  require(
      cache.keys.size() == cache.shape.elements() && cache.values.size() == cache.shape.elements(),
      "keys and values must have the sizes of the cache");
  require(is_finite(cache.keys) && is_finite(cache.values),
          "keys or values contain NaN or Inf; attention needs finite ones");
}

void check(const Queries& queries, const CacheShape& shape) {
  require(queries.heads % shape.heads == 0,
          "the heads of queries must be a multiple of those of keys");
  require(queries.values.size() == queries.rows * queries.heads * shape.head_size,
          "queries must have heads of the size of keys");
  require(is_finite(queries.values), "queries contain NaN or Inf; attention needs finite ones");
  require(!queries.causal || queries.rows <= shape.tokens,
          "causal queries are the last tokens; there are more than keys");
}

/// A query of one head.
struct Query {
  std::span<const float> values;
  std::size_t head = 0;    ///< of the cache
  std::size_t tokens = 1;  ///< that it attends to
};

/// Softmax of the scaled products with the keys.
std::vector<double> probabilities(const Cache& cache, const Query& query) {
  const std::size_t size = cache.shape.head_size;
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  std::vector<double> logits(query.tokens, 0.0);
  for (std::size_t token = 0; token < query.tokens; ++token) {
    const float* key = &cache.keys[token * cache.shape.columns() + query.head * size];
    for (std::size_t i = 0; i < size; ++i)
      logits[token] += static_cast<double>(query.values[i]) * key[i];
    logits[token] *= scale;
  }
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (double& logit : logits) sum += logit = std::exp(logit - largest);
  for (double& logit : logits) logit /= sum;
  return logits;
}

/// Mean of the values, weighted by probabilities.
std::vector<double> output(const Cache& cache, const Query& query,
                           std::span<const double> weights) {
  const std::size_t size = cache.shape.head_size;
  std::vector<double> sums(size, 0.0);
  for (std::size_t token = 0; token < query.tokens; ++token) {
    const float* value = &cache.values[token * cache.shape.columns() + query.head * size];
    for (std::size_t i = 0; i < size; ++i) sums[i] += weights[token] * value[i];
  }
  return sums;
}

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Sums of squares, and the largest change of a probability.
struct Sums {
  double power = 0.0;
  double keys = 0.0;
  double values = 0.0;
  double both = 0.0;
  double largest_change = 0.0;

  void add(const Cache& exact, const Cache& stored, const Query& query) {
    const std::vector<double> weights = probabilities(exact, query);
    const std::vector<double> changed = probabilities(stored, query);
    const std::vector<double> expected = output(exact, query, weights);
    power += squared_distance(expected, std::vector<double>(expected.size(), 0.0));
    keys += squared_distance(output(exact, query, changed), expected);
    values += squared_distance(output(stored, query, weights), expected);
    both += squared_distance(output(stored, query, changed), expected);
    for (std::size_t i = 0; i < weights.size(); ++i)
      largest_change = std::max(largest_change, std::abs(weights[i] - changed[i]));
  }

  void add(const Sums& other) {
    power += other.power;
    keys += other.keys;
    values += other.values;
    both += other.both;
    largest_change = std::max(largest_change, other.largest_change);
  }
};

/// NMSE; 0 without error, +Inf without signal.
double ratio(double error, double power) { return error == 0.0 ? 0.0 : error / power; }

}  // namespace

Errors errors(const Cache& exact, const Cache& stored, const Queries& queries, unsigned threads) {
  check(exact);
  check(stored);
  check(queries, exact.shape);
  require(stored.keys.size() == exact.keys.size(), "stored keys must be as many as exact ones");
  const std::size_t size = exact.shape.head_size;
  const std::size_t sharing = queries.heads / exact.shape.heads;
  std::vector<Sums> sums(queries.rows * queries.heads);
  os::parallel_for(sums.size(), threads, [&](std::size_t i, unsigned) {
    const std::size_t later = queries.rows - 1 - i / queries.heads;
    sums[i].add(exact, stored,
                {.values = queries.values.subspan(i * size, size),
                 .head = i % queries.heads / sharing,
                 .tokens = exact.shape.tokens - (queries.causal ? later : 0)});
  });
  Sums all;
  for (const Sums& one : sums) all.add(one);
  return {.keys_nmse = ratio(all.keys, all.power),
          .values_nmse = ratio(all.values, all.power),
          .both_nmse = ratio(all.both, all.power),
          .largest_change = all.largest_change};
}

}  // namespace equarx::attention
