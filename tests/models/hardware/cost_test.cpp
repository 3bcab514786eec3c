#include "models/hardware/cost.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::cost_test {
namespace {

/// Round numbers, for costs that can be verified by hand.
Chip round_chip() {
  Chip chip;
  chip.vector_rate.value = 1e12;
  chip.vmem_bandwidth.value = 10e12;
  chip.hbm_bandwidth.value = 1.25e12;
  chip.hbm_efficiency.value = 0.8;
  chip.instruction_overhead.value = 1e-8;
  return chip;
}

TEST_CASE("ALU-bound instructions take ALU time") {
  // 1e6 / 1e12 = 1 us; 1e6 / 10e12 = 0.1 us; 1e5 / 1e12 = 0.1 us; plus 10 ns overhead.
  CHECK(vector_time_s(round_chip(), 1e6, 1e6, 1e5) == Approx(1.01e-6).epsilon(1e-12));
}

TEST_CASE("VMEM-bound instructions take VMEM time") {
  // 1e5 / 1e12 = 0.1 us; 1e8 / 10e12 = 10 us.
  CHECK(vector_time_s(round_chip(), 1e5, 1e8, 0.0) == Approx(10.01e-6).epsilon(1e-12));
}

TEST_CASE("HBM-bound instructions take HBM time") {
  // 1e8 / 1e12 = 100 us.
  CHECK(vector_time_s(round_chip(), 1e5, 1e8, 1e8) == Approx(100.01e-6).epsilon(1e-12));
}

TEST_CASE("an empty instruction takes the overhead") {
  CHECK(vector_time_s(round_chip(), 0.0, 0.0, 0.0) == 1e-8);
}

}  // namespace
}  // namespace equarx::hardware::cost_test
