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

}  // namespace equarx::workloads
