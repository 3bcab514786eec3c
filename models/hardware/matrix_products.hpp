// How matrix products of different sizes use the matrix unit.
#pragma once

#include <string>
#include <vector>

#include "models/hardware/provenance.hpp"

namespace equarx::hardware {

/// Small products fill the matrix unit less: what products of some sizes reach of what the largest do.
struct MatrixProducts {
  /// A size, and what it reaches.
  struct Point {
    double operations = 0.0;  ///< of one product, multiplications and additions: 2 M N K; above 0
    double share = 1.0;       ///< of matrix_efficiency, (0, 1]
  };
  std::vector<Point> points;  ///< by rising operations; none: all sizes are alike
  Provenance provenance = Provenance::assumed;
  std::string source;
};

/// What a product of `operations` reaches of matrix_efficiency: interpolated between the logarithms of the points'
/// operations, and that of the first or last point beyond them; 1 without points.
double matrix_share(const MatrixProducts& products, double operations);

}  // namespace equarx::hardware
