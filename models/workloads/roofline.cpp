#include "models/workloads/roofline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::workloads {
namespace {

using hardware::Chip;
using hardware::MatrixType;
using hardware::Parameter;

/// Value of an optional parameter; `otherwise` if it is absent.
double value_or(const Parameter& parameter, double otherwise) {
  return parameter.value > 0.0 ? parameter.value : otherwise;
}

double gemm_rate(const ComputeRates& rates, MatrixType type) {
  const double rate = rates.gemm_flops_per_s[static_cast<std::size_t>(type)];
  if (rate > 0.0) return rate;
  throw std::invalid_argument(
      fmt::format("the {} GEMM rate of the chip is unspecified", hardware::name(type)));
}

/// FLOP/s of the kernel of an operation, relative to a large GEMM of its type.
double kernel_share(const Operation& operation, const ComputeRates& rates) {
  switch (operation.kernel) {
    case Kernel::convolution: return rates.convolution_share;
    case Kernel::attention: return rates.attention_share;
    case Kernel::attention_backward: return rates.attention_backward_share;
    case Kernel::usual:
    case Kernel::amax: break;
  }
  const double share = operation.decoded_weights > 0.0 ? rates.decoded_share : 1.0;
  return rates.matrix_products == nullptr
             ? share
             : share * hardware::matrix_share(*rates.matrix_products, operation.flops);
}

double matrix_s(const Operation& operation, const ComputeRates& rates) {
  if (operation.flops <= 0.0) return 0.0;
  return operation.unit_ops() /
             (gemm_rate(rates, operation.products) * kernel_share(operation, rates)) +
         operation.attention_rows * rates.attention_row_s;
}

double vector_s(const Operation& operation, const ComputeRates& rates) {
  const double decode_s = rates.decoded_weights_per_s > 0.0
                              ? operation.decoded_weights / rates.decoded_weights_per_s
                              : 0.0;
  return std::max(operation.vector_ops / rates.vector_ops_per_s, decode_s) +
         operation.comparisons / rates.comparisons_per_s;
}

/// True for GEMMs and convolutions. Attention reads HBM like a pass: its tiles are independent.
bool is_gemm(const Operation& operation) {
  return operation.flops > 0.0 &&
         (operation.kernel == Kernel::usual || operation.kernel == Kernel::convolution);
}

double hbm_s(const Operation& operation, const ComputeRates& rates) {
  const double bytes = operation.hbm_bytes();
  if (operation.kernel == Kernel::amax) return bytes / rates.amax_hbm_bytes_per_s;
  return bytes / (is_gemm(operation) ? rates.gemm_hbm_bytes_per_s : rates.hbm_bytes_per_s);
}

}  // namespace

std::string_view name(Roof roof) {
  switch (roof) {
    case Roof::matrix: return "matrix";
    case Roof::vector: return "vector";
    case Roof::hbm: return "hbm";
  }
  throw std::logic_error("unknown roof");
}

ComputeRates compute_rates(const Chip& chip) {
  const double bf16_share = chip.matrix_efficiency.value;
  const auto relative = [&](const Parameter& share) {
    return value_or(share, bf16_share) / bf16_share;
  };
  const double startup_s = value_or(chip.operation_startup, chip.instruction_overhead.value);
  ComputeRates rates{
      .convolution_share = relative(chip.convolution_efficiency),
      .attention_share = relative(chip.attention_efficiency),
      .attention_backward_share = relative(chip.attention_backward_efficiency),
      .decoded_share = relative(chip.decoded_efficiency),
      .vector_ops_per_s = chip.vector_rate.value,
      .comparisons_per_s = value_or(chip.sort_rate, chip.vector_rate.value),
      .decoded_weights_per_s = chip.decode_rate.value,
      .hbm_bytes_per_s = chip.hbm_rate(),
      .gemm_hbm_bytes_per_s = chip.hbm_bandwidth.value *
                              value_or(chip.matrix_hbm_efficiency, chip.hbm_efficiency.value),
      .amax_hbm_bytes_per_s = chip.hbm_rate() * value_or(chip.amax_efficiency, 1.0),
      .operation_startup_s = startup_s,
      .gemm_startup_s = value_or(chip.matrix_startup, startup_s),
      .attention_row_s = chip.attention_row_time.value,
      .step_overhead = chip.step_overhead.value,
      .matrix_products = &chip.matrix_products};
  for (const MatrixType type : hardware::kMatrixTypes)
    rates.gemm_flops_per_s[static_cast<std::size_t>(type)] =
        matrix_rate(chip, type) * matrix_efficiency(chip, type);
  return rates;
}

double startup_s(const Operation& operation, const ComputeRates& rates) {
  return is_gemm(operation) ? rates.gemm_startup_s : rates.operation_startup_s;
}

double busy_s(const Operation& operation, const ComputeRates& rates) {
  return std::max(matrix_s(operation, rates), hbm_s(operation, rates)) *
         static_cast<double>(operation.times);
}

OperationTime roofline(const Operation& operation, const ComputeRates& rates) {
  if (is_collective(operation.kind))
    throw std::logic_error("a collective is timed by its program, not by a roofline");
  const std::array times = {OperationTime{hbm_s(operation, rates), Roof::hbm},
                            OperationTime{vector_s(operation, rates), Roof::vector},
                            OperationTime{matrix_s(operation, rates), Roof::matrix}};
  OperationTime time = *std::ranges::max_element(times, {}, &OperationTime::seconds);
  time.seconds += startup_s(operation, rates);
  if (rates.step_overhead > 0.0 && operation.training_flops > 0.0)
    time.seconds +=
        rates.step_overhead * operation.training_flops / gemm_rate(rates, MatrixType::bf16);
  time.seconds *= static_cast<double>(operation.times);
  return time;
}

}  // namespace equarx::workloads
