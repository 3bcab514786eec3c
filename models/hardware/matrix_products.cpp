#include "models/hardware/matrix_products.hpp"

#include <algorithm>
#include <cmath>

namespace equarx::hardware {

double matrix_share(const MatrixProducts& products, double operations) {
  const auto& points = products.points;
  const auto above =
      std::ranges::upper_bound(points, operations, {}, &MatrixProducts::Point::operations);
  if (points.empty()) return 1.0;
  if (above == points.begin()) return above->share;
  const auto below = above - 1;
  if (above == points.end()) return below->share;
  const double fraction =
      std::log(operations / below->operations) / std::log(above->operations / below->operations);
  return std::lerp(below->share, above->share, fraction);
}

}  // namespace equarx::hardware
