#include "models/workloads/operation.hpp"

#include <stdexcept>

namespace equarx::workloads {

std::string_view name(OperationKind kind) {
  switch (kind) {
    case OperationKind::matrix: return "matrix";
    case OperationKind::attention: return "attention";
    case OperationKind::vector: return "vector";
    case OperationKind::memory: return "memory";
    case OperationKind::allreduce: return "allreduce";
  }
  throw std::logic_error("unknown kind of operation");
}

Operation part_of(Operation operation, std::uint32_t parts) {
  operation.flops /= parts;
  operation.vector_ops =
      (operation.vector_ops - operation.weight_ops) / parts + operation.weight_ops;
  operation.read_bytes /= parts;
  operation.written_bytes /= parts;
  return operation;
}

}  // namespace equarx::workloads
