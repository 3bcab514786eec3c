// Exact k-means in one dimension.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace equarx::stored {

/// Ascending centres of the `count` clusters of least weighted squared error, by dynamic
/// programming over the sorted values (Grønlund et al., arXiv 1701.07204). Weights are
/// non-negative; clusters of weight 0 have their plain mean. Fewer distinct values than `count`
/// repeat the largest one; without values, zeros. Takes O(count n log n) time and 4 count n bytes.
std::vector<float> kmeans(std::span<const float> values, std::span<const double> weights,
                          std::size_t count);

}  // namespace equarx::stored
