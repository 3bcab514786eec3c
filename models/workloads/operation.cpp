#include "models/workloads/operation.hpp"

#include <cmath>
#include <stdexcept>

namespace equarx::workloads {

std::string_view name(OperationKind kind) {
  switch (kind) {
    case OperationKind::matrix: return "matrix";
    case OperationKind::attention: return "attention";
    case OperationKind::vector: return "vector";
    case OperationKind::memory: return "memory";
    case OperationKind::allreduce: return "allreduce";
    case OperationKind::alltoall: return "alltoall";
  }
  throw std::logic_error("unknown kind of operation");
}

bool is_collective(OperationKind kind) {
  return kind == OperationKind::allreduce || kind == OperationKind::alltoall;
}

std::string_view name(Kernel kernel) {
  switch (kernel) {
    case Kernel::usual: return "usual";
    case Kernel::convolution: return "convolution";
    case Kernel::attention: return "attention";
    case Kernel::attention_backward: return "attention-backward";
    case Kernel::amax: return "amax";
  }
  throw std::logic_error("unknown kernel");
}

double Operation::unit_ops() const {
  const double all = flops * passes;
  if (row_tile <= 1.0) return all;
  const double rows = gemm.rows / gemm.matrices;
  return all * row_tile * std::ceil(rows / row_tile) / rows;
}

void append(std::vector<Operation>& operations, const std::vector<Operation>& more) {
  operations.insert(operations.end(), more.begin(), more.end());
}

Operation part_of(Operation operation, std::uint32_t parts) {
  operation.flops /= parts;
  operation.gemm.rows /= parts;
  operation.training_flops /= parts;
  operation.attention_rows /= parts;
  operation.comparisons /= parts;
  operation.vector_ops /= parts;
  operation.read_bytes /= parts;
  operation.written_bytes /= parts;
  return operation;
}

}  // namespace equarx::workloads
