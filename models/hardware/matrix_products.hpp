// Matrix unit utilisation as a function of GEMM size.
#pragma once

#include <string>
#include <vector>

#include "models/hardware/provenance.hpp"

namespace equarx::hardware {

/// Utilisation curve: small GEMMs fill the matrix unit less. Shares are relative to the largest
/// sizes.
struct MatrixProducts {
  /// Share reached at one size.
  struct Point {
    double operations = 0.0;  ///< multiplications and additions of one GEMM, 2 M N K; > 0
    double share = 1.0;       ///< of matrix_efficiency, (0, 1]
  };
  std::vector<Point> points;  ///< by rising operations; empty if the share does not depend on size
  Provenance provenance = Provenance::assumed;
  std::string source;
};

/// Returns the share of matrix_efficiency of a GEMM with `operations`: interpolated linearly in
/// log(operations), constant beyond the first and last point; 1 without points.
double matrix_share(const MatrixProducts& products, double operations);

}  // namespace equarx::hardware
