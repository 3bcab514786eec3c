#include "models/hardware/energy.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::energy_test {
namespace {

constexpr std::size_t kBf16 = static_cast<std::size_t>(MatrixType::bf16);
constexpr std::size_t kInt8 = static_cast<std::size_t>(MatrixType::int8);

/// A chip with both types of GEMMs, powers and a price, but without energies.
Chip chip_with_powers() {
  Chip chip;
  chip.matrix_rate_bf16.value = 1e12;
  chip.matrix_rate_int8.value = 2e12;
  chip.power_idle.value = 100.0;
  chip.power_busy.value = 300.0;
  chip.price.value = 1.8;
  return chip;
}

Chip chip_with_energies() {
  Chip chip = chip_with_powers();
  chip.energy_bf16.value = 0.5e-12;
  chip.energy_int8.value = 0.125e-12;
  chip.energy_hbm.value = 32e-12;
  return chip;
}

Activity work() {
  Activity activity{.time_s = 10.0, .busy_s = 4.0, .hbm_bytes = 1e12};
  activity.matrix_ops[kBf16] = 2e14;
  activity.matrix_ops[kInt8] = 8e14;
  return activity;
}

TEST_CASE("busy time costs the difference of the powers") {
  const Energy energy = energy_of(chip_with_powers(), work()).value();
  CHECK(energy.model == EnergyModel::busy);
  CHECK(energy.joules == Approx(100.0 * 10.0 + 200.0 * 4.0));
  CHECK_FALSE(energy.limited);
  CHECK(energy.left_out.empty());
}

TEST_CASE("busy time beyond the time does not count") {
  Activity activity = work();
  activity.busy_s = 25.0;
  CHECK(energy_of(chip_with_powers(), activity)->joules == Approx(3000.0));
}

TEST_CASE("a chip needs both powers, or energies, for an energy") {
  Chip chip = chip_with_powers();
  chip.power_idle.value = 0.0;
  CHECK_FALSE(energy_of(chip, work()));
  chip.power_idle.value = 100.0;
  chip.power_busy.value = 0.0;
  CHECK_FALSE(energy_of(chip, work()));
  CHECK_FALSE(energy_of(Chip{}, work()));
}

TEST_CASE("operations and bytes cost their energies on top of idle power") {
  const Energy energy = energy_of(chip_with_energies(), work()).value();
  CHECK(energy.model == EnergyModel::operations);
  CHECK(energy.joules == Approx(1000.0 + 100.0 + 100.0 + 32.0));
  CHECK(energy.left_out.empty());
}

TEST_CASE("every operation and byte has its own energy") {
  Chip chip = chip_with_energies();
  chip.energy_vector.value = 1.0;
  chip.energy_vmem.value = 10.0;
  chip.energy_link.value = 100.0;
  chip.power_busy.value = 0.0;
  const Activity activity{.vector_ops = 2.0, .vmem_bytes = 3.0, .link_bytes = 4.0};
  CHECK(energy_of(chip, activity)->joules == Approx(432.0));
}

TEST_CASE("work without an energy is listed, not taken as free of energy") {
  Activity activity = work();
  activity.vector_ops = activity.vmem_bytes = activity.link_bytes = 1.0;
  activity.network_bytes = activity.host_bytes = activity.given_s = 1.0;
  Chip chip = chip_with_energies();
  CHECK(energy_of(chip, activity)->left_out ==
        std::vector<std::string_view>{"vector operations", "VMEM", "links", "networks",
                                      "host transfers", "tasks given as a time"});
  chip.energy_vector.value = chip.energy_vmem.value = chip.energy_link.value = 1e-12;
  CHECK(energy_of(chip, activity)->left_out ==
        std::vector<std::string_view>{"networks", "host transfers", "tasks given as a time"});
  chip.power_idle.value = 0.0;
  CHECK(energy_of(chip, activity)->left_out.front() == "idle power");
}

TEST_CASE("the equation depends on the chip, not on the work") {
  Chip chip = chip_with_energies();
  chip.energy_int8.value = 0.0;
  Activity bf16{.time_s = 1.0, .busy_s = 1.0};
  bf16.matrix_ops[kBf16] = 1.0;
  CHECK(energy_of(chip, bf16)->model == EnergyModel::busy);
  chip.matrix_rate_int8.value = 0.0;  // not supported: needs no energy
  CHECK(energy_of(chip, bf16)->model == EnergyModel::operations);
  chip.matrix_rate_fp8.value = 1e12;
  CHECK(energy_of(chip, bf16)->model == EnergyModel::busy);
  chip.energy_fp8.value = 1e-12;
  chip.energy_hbm.value = 0.0;
  CHECK(energy_of(chip, bf16)->model == EnergyModel::busy);
}

TEST_CASE("the busy power limits an energy by operations") {
  Activity activity = work();
  activity.hbm_bytes = 1e15;  // 32 kJ in 10 s
  const Energy energy = energy_of(chip_with_energies(), activity).value();
  CHECK(energy.joules == Approx(3000.0));
  CHECK(energy.limited);
  Chip chip = chip_with_energies();
  chip.power_busy.value = 0.0;
  CHECK(energy_of(chip, activity)->joules == Approx(33200.0));
  CHECK_FALSE(energy_of(chip, activity)->limited);
}

TEST_CASE("cost is linear in price and time, and absent without a price") {
  Chip chip = chip_with_powers();
  CHECK(cost_of(chip, 7200.0).value() == Approx(3.6));
  CHECK(cost_of(chip, 3600.0).value() == Approx(1.8));
  chip.price.value *= 3.0;
  CHECK(cost_of(chip, 7200.0).value() == Approx(10.8));
  chip.price.value = 0.0;
  CHECK_FALSE(cost_of(chip, 7200.0));
}

TEST_CASE("energy is linear in the number of runs") {
  for (const Chip& chip : {chip_with_powers(), chip_with_energies()}) {
    const double once = energy_of(chip, work())->joules;
    CHECK(energy_of(chip, work().scaled(3.0))->joules == Approx(3.0 * once));
    Activity twice = work();
    twice += work();
    CHECK(energy_of(chip, twice)->joules == Approx(2.0 * once));
  }
}

TEST_CASE("every amount of an activity is scaled and added") {
  Activity ones{1.0, 1.0, {}, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  ones.matrix_ops.fill(1.0);
  Activity sum = ones;
  sum += ones.scaled(2.0);
  for (const double amount : {sum.time_s, sum.busy_s, sum.vector_ops, sum.hbm_bytes, sum.vmem_bytes,
                              sum.link_bytes, sum.network_bytes, sum.host_bytes, sum.given_s})
    CHECK(amount == 3.0);
  for (const double ops : sum.matrix_ops) CHECK(ops == 3.0);
}

TEST_CASE("each type of GEMM has its own energy") {
  Chip chip;
  chip.energy_hbm.value = 1.0;
  double next = 1.0;
  for (Parameter Chip::*const energy :
       {&Chip::energy_bf16, &Chip::energy_fp32, &Chip::energy_int8, &Chip::energy_fp8,
        &Chip::energy_fp4, &Chip::energy_int1, &Chip::energy_table})
    (chip.*energy).value = next++;
  for (const MatrixType type : kMatrixTypes) {
    Activity activity;
    activity.matrix_ops[static_cast<std::size_t>(type)] = 10.0;
    CHECK(energy_of(chip, activity)->joules == 10.0 * (static_cast<double>(type) + 1.0));
  }
}

TEST_CASE("models have names") {
  CHECK(name(EnergyModel::operations) == "operations");
  CHECK(name(EnergyModel::busy) == "busy");
}

}  // namespace
}  // namespace equarx::hardware::energy_test
