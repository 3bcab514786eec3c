#include "experiments/sweep/point_set.hpp"

namespace equarx::sweep {

std::vector<std::size_t> PointSet::in_shard(const SweepShard& shard) const {
  std::vector<std::size_t> points;
  for (std::size_t point = shard.index - 1; point < size(); point += shard.count)
    points.push_back(point);
  return points;
}

}  // namespace equarx::sweep
