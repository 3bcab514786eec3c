// Drawn keys, values and queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/attention/cache.hpp"

namespace equarx::attention {

/// Keys and values as published ones: every 32nd channel of keys has a mean of 8 or -8, else 0;
/// deviations from it and values are normal of variance 1.
/// Source: KIVI, arXiv 2402.02750, figure 2, and KVQuant, arXiv 2401.18079: few channels of keys
/// are large for all tokens, values have none. Number and mean are assumed.
struct DrawnCache : OwnedCache {
  DrawnCache(const CacheShape& of, std::uint64_t seed);
};

/// Normal queries, each scaled until its logits have the standard deviation `spread` over all
/// tokens: with normal logits, attention is as wide as a share exp(-spread^2) of the tokens.
/// Queries whose logits are all equal are not scaled. `heads`: a multiple of the heads of `cache`.
std::vector<float> drawn_queries(const Cache& cache, std::size_t rows, std::size_t heads,
                                 double spread, std::uint64_t seed);

}  // namespace equarx::attention
