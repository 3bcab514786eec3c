#include "experiments/plan/costs.hpp"

#include <algorithm>

#include "experiments/config/hardware_json.hpp"
#include "models/collectives/casts.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/hardware/cost.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::plan::costs_test {
namespace {

TEST_CASE("instruction costs follow the chip's parameters") {
  hardware::Chip chip = config::load_chip("tpu-v5e", "");
  chip.collective_startup.value = 3e-6;
  chip.step_sync_time.value = 0.4e-6;
  chip.program_startup.value = 1.0;  // of whole programs only (plan.cpp)
  const collectives::Program program =
      testing::make_ring_all_reduce(4, 1 << 16, numerics::ElementFormat::bf16,
                                    testing::quantized(2, 2, collectives::RingStyle::full_loop));
  const sim::Costs costs = program_costs(program, chip);
  CHECK(costs.start_s == 3e-6);
  REQUIRE(costs.core_s.size() == program.instructions.size());
  REQUIRE(costs.link_s.size() == program.messages.size());
  std::size_t vector_work = 0;
  for (std::size_t i = 0; i < costs.core_s.size(); ++i) {
    const collectives::Op op = program.instructions[i].op;
    if (op == collectives::Op::send) CHECK(costs.core_s[i] == chip.dma_overhead.value);
    if (op == collectives::Op::wait) CHECK(costs.core_s[i] == chip.wait_overhead.value);
    if (op == collectives::Op::barrier) CHECK(costs.core_s[i] == chip.barrier_time.value);
    if (!is_vector_work(op)) continue;
    CHECK(costs.core_s[i] > 0.0);
    ++vector_work;
  }
  CHECK(vector_work > 0);
  for (std::size_t i = 0; i < costs.link_s.size(); ++i)
    CHECK(costs.link_s[i] == (program.messages[i].synchronises ? chip.step_sync_time.value : 0.0));
  CHECK(std::ranges::count_if(costs.link_s, [](double time_s) { return time_s > 0.0; }) > 0);
}

TEST_CASE("costs by kind equal those by instruction bit for bit") {
  hardware::Chip chip = config::load_chip("tpu-v5e", "");
  for (const auto style : {collectives::RingStyle::full_loop, collectives::RingStyle::semi_loop}) {
    const collectives::Program program = testing::make_ring_all_reduce(
        4, 54321, numerics::ElementFormat::bf16, testing::quantized(3, 4, style));
    const CostKinds kinds(program);
    REQUIRE(kinds.of_instructions().size() == program.instructions.size());
    for (const double scale : {1.0, 0.37}) {
      chip.vector_rate.value *= scale;
      chip.dma_overhead.value *= scale;
      const sim::Costs costs = kinds.costs(program, chip);
      const sim::Costs expected = program_costs(program, chip);
      CHECK(costs.core_s == expected.core_s);
      CHECK(costs.link_s == expected.link_s);
      CHECK(costs.start_s == expected.start_s);
      CHECK(costs.hbm_bytes.empty());
    }
  }
}

TEST_CASE("fused casts take no time, separate ones that of their HBM traffic") {
  const hardware::Chip chip = config::load_chip("tpu-v5e", "");
  const collectives::Program plain =
      testing::make_ring_all_reduce(4, 1 << 16, numerics::ElementFormat::fp8_e5m2, {});
  for (const auto casts : {collectives::Casts::fused, collectives::Casts::separate}) {
    const collectives::Program program =
        collectives::with_casts(plain, numerics::ElementFormat::bf16, false, casts);
    const sim::Costs costs = program_costs(program, chip);
    double casts_s = 0.0;
    double tiles = 0.0;
    for (std::size_t i = 0; i < costs.core_s.size(); ++i) {
      const collectives::Op op = program.instructions[i].op;
      if (op != collectives::Op::cast && op != collectives::Op::cast_back) continue;
      casts_s += costs.core_s[i];
      ++tiles;
    }
    REQUIRE(tiles > 0.0);
    constexpr double kBytes = 2.0 * 3.0 * (1 << 16);  // read 2, write 1, or the reverse
    CHECK(casts_s ==
          Approx(casts == collectives::Casts::fused
                     ? 0.0
                     : kBytes / chip.hbm_rate() + tiles * chip.instruction_overhead.value));
  }
}

TEST_CASE(
    "with wire buffers in HBM, an isolated instruction takes as long as a vector instruction") {
  using collectives::WireBuffers;
  hardware::Chip chip = config::load_chip("tpu-v6e", "");
  const collectives::Program program =
      testing::make_ring_all_reduce(4, 1 << 20, numerics::ElementFormat::bf16,
                                    testing::quantized(2, 2, collectives::RingStyle::full_loop));
  CHECK(program_costs(program, chip).hbm_bytes.empty());
  const sim::Costs costs = program_costs(program, chip, WireBuffers::hbm);
  REQUIRE(costs.hbm_bytes.size() == program.instructions.size());
  CHECK(costs.before_hbm_s == chip.instruction_overhead.value);
  std::size_t bound_by_hbm = 0;
  for (std::size_t i = 0; i < costs.core_s.size(); ++i) {
    const collectives::Instruction& instruction = program.instructions[i];
    if (!is_vector_work(instruction.op)) {
      CHECK(costs.hbm_bytes[i] == 0);
      continue;
    }
    const collectives::Work work = work_of(program, instruction, WireBuffers::hbm);
    CHECK(static_cast<double>(costs.hbm_bytes[i]) == work.hbm_bytes);
    const double overlapped_s = costs.core_s[i] - costs.before_hbm_s;
    const double hbm_s = static_cast<double>(costs.hbm_bytes[i]) / chip.hbm_rate();
    bound_by_hbm += hbm_s > overlapped_s ? 1 : 0;
    CHECK(costs.before_hbm_s + std::max(overlapped_s, hbm_s) ==
          Approx(
              hardware::vector_time_s(chip, work.alu_operations, work.vmem_bytes, work.hbm_bytes)));
  }
  CHECK(bound_by_hbm > 0);
}

TEST_CASE("an unquantized program adds no link time beyond its bytes") {
  const sim::Costs costs =
      program_costs(testing::make_ring_all_reduce(4, 1 << 16, numerics::ElementFormat::bf16,
                                                  testing::plain(numerics::ElementFormat::bf16, 2)),
                    config::load_chip("tpu-v5e", ""));
  CHECK(std::ranges::all_of(costs.link_s, [](double time_s) { return time_s == 0.0; }));
}

}  // namespace
}  // namespace equarx::plan::costs_test
