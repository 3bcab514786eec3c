#include "importers/hlo/vector_costs.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo::vector_costs_test {
namespace {

TEST_CASE("functions take several slots of a GPU, and one of a TPU") {
  CHECK(ops_per_element("add", true) == 1.0);
  CHECK(ops_per_element("rsqrt", true) == 8.0);
  CHECK(ops_per_element("exponential", true) == 9.0);
  CHECK(ops_per_element("divide", true) == 10.0);
  CHECK(ops_per_element("tanh", true) == 25.0);
  CHECK(ops_per_element("logistic", true) > ops_per_element("exponential", true));
  for (const char* opcode : {"add", "tanh", "divide", "exponential"})
    CHECK(ops_per_element(opcode, false) == 1.0);
}

}  // namespace
}  // namespace equarx::hlo::vector_costs_test
