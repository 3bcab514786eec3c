#include "models/workloads/roofline.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace equarx::workloads {

std::string_view name(Roof roof) {
  switch (roof) {
    case Roof::matrix: return "matrix";
    case Roof::vector: return "vector";
    case Roof::hbm: return "hbm";
  }
  throw std::logic_error("unknown roof");
}

OperationTime roofline(const Operation& operation, const ComputeRates& rates) {
  if (operation.kind == OperationKind::allreduce)
    throw std::logic_error("an AllReduce is timed by its program, not by a roofline");
  const double share = rates.matrix_products == nullptr || operation.flops <= 0.0
                           ? 1.0
                           : hardware::matrix_share(*rates.matrix_products, operation.flops);
  const std::array times = {
      OperationTime{operation.hbm_bytes() / rates.hbm_bytes_per_s, Roof::hbm},
      OperationTime{operation.vector_ops / rates.vector_ops_per_s, Roof::vector},
      OperationTime{operation.flops / (rates.matrix_flops_per_s * rates.matrix_efficiency * share),
                    Roof::matrix}};
  OperationTime time = *std::ranges::max_element(times, {}, &OperationTime::seconds);
  time.seconds += rates.operation_overhead_s;
  return time;
}

}  // namespace equarx::workloads
