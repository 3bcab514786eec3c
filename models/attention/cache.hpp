// Keys, values and queries of attention.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace equarx::attention {

/// Sizes of cached keys and values: a row per token, its heads side by side. All at least 1.
struct CacheShape {
  std::size_t tokens = 1;
  std::size_t heads = 1;
  std::size_t head_size = 1;

  bool operator==(const CacheShape&) const = default;

  std::size_t columns() const { return heads * head_size; }
  std::size_t elements() const { return tokens * columns(); }
};

/// Keys and values of a shape.
struct Cache {
  CacheShape shape;
  std::span<const float> keys;
  std::span<const float> values;
};

/// Keys and values with their memory.
struct OwnedCache {
  CacheShape shape;
  std::vector<float> keys;
  std::vector<float> values;

  Cache view() const { return {.shape = shape, .keys = keys, .values = values}; }
};

/// Rows of queries, heads side by side.
struct Queries {
  std::size_t rows = 1;
  std::size_t heads = 1;  ///< a multiple of the cache's heads; consecutive ones share keys
  std::span<const float> values;
  /// Row i of n attends to all tokens but the last n - 1 - i; else rows attend to all tokens.
  bool causal = false;
};

}  // namespace equarx::attention
