#include "models/workloads/operation.hpp"

#include "tests/catch.hpp"

namespace equarx::workloads::operation_test {
namespace {

TEST_CASE("HBM traffic is weights, operands and results, without the AllReduce") {
  Operation operation;
  operation.weight_bytes = 1.0;
  operation.read_bytes = 20.0;
  operation.written_bytes = 300.0;
  operation.live_bytes = 4000.0;
  operation.collective_bytes = 50000.0;
  CHECK(operation.hbm_bytes() == 321.0);
}

TEST_CASE("each part of the positions reads all weights") {
  const Operation whole{.name = "matrix",
                        .flops = 8.0,
                        .vector_ops = 4.0,
                        .weight_bytes = 16.0,
                        .read_bytes = 32.0,
                        .written_bytes = 64.0};
  const Operation half = part_of(whole, 2);
  CHECK(half.flops == 4.0);
  CHECK(half.vector_ops == 2.0);
  CHECK(half.hbm_bytes() == 16.0 + 16.0 + 32.0);
  CHECK(part_of(whole, 1).hbm_bytes() == whole.hbm_bytes());
}

TEST_CASE("kinds have names") {
  CHECK(name(OperationKind::matrix) == "matrix");
  CHECK(name(OperationKind::attention) == "attention");
  CHECK(name(OperationKind::vector) == "vector");
  CHECK(name(OperationKind::memory) == "memory");
  CHECK(name(OperationKind::allreduce) == "allreduce");
}

}  // namespace
}  // namespace equarx::workloads::operation_test
