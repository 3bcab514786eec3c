#include "models/attention/drawn.hpp"

#include <cmath>

#include "models/numerics/inputs/inputs.hpp"

namespace equarx::attention {
namespace {

/// Tensors of one seed, as ranks of a generator.
enum class Tensor : std::uint32_t { keys, values, queries };

std::vector<float> normal(std::uint64_t seed, Tensor tensor, std::size_t count) {
  std::vector<float> drawn(count);
  numerics::generate({.seed = seed}, static_cast<std::uint32_t>(tensor), 0, drawn);
  return drawn;
}

/// Mean of a channel of keys; outliers alternate in sign.
float mean_of(std::size_t channel) {
  constexpr std::size_t kOneIn = 32;
  constexpr float kMean = 8.0F;
  if (channel % kOneIn != kOneIn / 2) return 0.0F;
  return channel / kOneIn % 2 == 0 ? kMean : -kMean;
}

/// Standard deviation of the logits of a query with a head of the cache.
double spread_of(const Cache& cache, std::span<const float> query, std::size_t head) {
  const std::size_t size = cache.shape.head_size;
  const double scale = 1.0 / std::sqrt(static_cast<double>(size));
  const auto tokens = static_cast<double>(cache.shape.tokens);
  double mean = 0.0;
  double squares = 0.0;  // by Welford's method
  for (std::size_t token = 0; token < cache.shape.tokens; ++token) {
    const float* key = &cache.keys[token * cache.shape.columns() + head * size];
    double logit = 0.0;
    for (std::size_t i = 0; i < size; ++i) logit += static_cast<double>(query[i]) * key[i] * scale;
    const double before = logit - mean;
    mean += before / static_cast<double>(token + 1);
    squares += before * (logit - mean);
  }
  return std::sqrt(squares / tokens);
}

}  // namespace

DrawnCache::DrawnCache(const CacheShape& of, std::uint64_t seed)
    : OwnedCache{.shape = of,
                 .keys = normal(seed, Tensor::keys, of.elements()),
                 .values = normal(seed, Tensor::values, of.elements())} {
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] += mean_of(i % shape.columns());
}

std::vector<float> drawn_queries(const Cache& cache, std::size_t rows, std::size_t heads,
                                 double spread, std::uint64_t seed) {
  const std::size_t size = cache.shape.head_size;
  std::vector<float> queries = normal(seed, Tensor::queries, rows * heads * size);
  for (std::size_t i = 0; i < rows * heads; ++i) {
    const std::span<float> query = std::span(queries).subspan(i * size, size);
    const double drawn = spread_of(cache, query, i % heads / (heads / cache.shape.heads));
    if (drawn == 0.0) continue;
    for (float& value : query) value = static_cast<float>(value * spread / drawn);
  }
  return queries;
}

}  // namespace equarx::attention
