#include "models/workloads/operation.hpp"

#include "tests/catch.hpp"

namespace equarx::workloads {
namespace {

TEST_CASE("weights, operands and results go through HBM; what is summed is the collective's") {
  Operation operation;
  operation.weight_bytes = 1.0;
  operation.read_bytes = 20.0;
  operation.written_bytes = 300.0;
  operation.live_bytes = 4000.0;
  operation.allreduce_bytes = 50000.0;
  CHECK(operation.hbm_bytes() == 321.0);
}

TEST_CASE("kinds have names") {
  CHECK(name(OperationKind::matrix) == "matrix");
  CHECK(name(OperationKind::attention) == "attention");
  CHECK(name(OperationKind::vector) == "vector");
  CHECK(name(OperationKind::memory) == "memory");
  CHECK(name(OperationKind::allreduce) == "allreduce");
}

}  // namespace
}  // namespace equarx::workloads
