#include "models/workloads/roofline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::workloads {

std::string_view name(Roof roof) {
  switch (roof) {
    case Roof::matrix: return "matrix";
    case Roof::vector: return "vector";
    case Roof::hbm: return "hbm";
  }
  throw std::logic_error("unknown roof");
}

ComputeRates compute_rates(const hardware::Chip& chip) {
  ComputeRates rates{.matrix_efficiency = chip.matrix_efficiency.value,
                     .vector_ops_per_s = chip.vector_rate.value,
                     .hbm_bytes_per_s = chip.hbm_rate(),
                     .operation_overhead_s = chip.instruction_overhead.value,
                     .matrix_products = &chip.matrix_products};
  for (const hardware::MatrixType type : hardware::kMatrixTypes)
    rates.matrix_flops_per_s[static_cast<std::size_t>(type)] = matrix_rate(chip, type);
  return rates;
}

OperationTime roofline(const Operation& operation, const ComputeRates& rates) {
  if (operation.kind == OperationKind::allreduce)
    throw std::logic_error("an AllReduce is timed by its program, not by a roofline");
  const double peak = rates.matrix_flops_per_s[static_cast<std::size_t>(operation.products)];
  if (operation.flops > 0.0 && peak <= 0.0)
    throw std::invalid_argument(fmt::format("the {} GEMM rate of the chip is unspecified",
                                            hardware::name(operation.products)));
  const double share = rates.matrix_products == nullptr || operation.flops <= 0.0
                           ? 1.0
                           : hardware::matrix_share(*rates.matrix_products, operation.flops);
  const std::array times = {
      OperationTime{operation.hbm_bytes() / rates.hbm_bytes_per_s, Roof::hbm},
      OperationTime{operation.vector_ops / rates.vector_ops_per_s, Roof::vector},
      OperationTime{
          operation.flops > 0.0 ? operation.flops / (peak * rates.matrix_efficiency * share) : 0.0,
          Roof::matrix}};
  OperationTime time = *std::ranges::max_element(times, {}, &OperationTime::seconds);
  time.seconds = (time.seconds + rates.operation_overhead_s) * static_cast<double>(operation.times);
  return time;
}

}  // namespace equarx::workloads
