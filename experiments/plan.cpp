#include "experiments/plan.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "models/collectives/pipeline.hpp"
#include "models/collectives/traffic.hpp"
#include "models/collectives/work.hpp"
#include "models/hardware/cost.hpp"
#include "models/units/quantity.hpp"
#include "models/values/value_executor.hpp"
#include "topologies/ring.hpp"
#include "topologies/topology.hpp"

namespace equarx::experiments {
namespace {

using collectives::Direction;
using collectives::Op;
using numerics::BlockFormat;

std::string bytes_text(double bytes) { return units::format_short(bytes, units::Dimension::bytes); }

// --- Machine

/// Ranks along a ring through all chips, each linked to the next one in both directions.
sim::Machine make_machine(const hardware::Chip& chip, const topology::GridShape& shape) {
  const topology::Topology topology = topology::make_grid(shape);
  const std::vector<topology::ChipId> ring = topology::hamiltonian_ring(shape);
  sim::Machine machine;
  for (topology::LinkId id = 0; id < topology.link_count(); ++id) {
    const topology::Link link = topology.link(id);
    machine.links.push_back(
        {fmt::format("{}->{}", topology.label(link.from), topology.label(link.to)),
         chip.link_rate(), chip.hop_latency.value});
  }
  const auto ranks = static_cast<std::uint32_t>(ring.size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    machine.chip_names.push_back(topology.label(ring[rank]));
    auto& routes = machine.routes.emplace_back();
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const std::uint32_t peer = collectives::neighbour(rank, direction, ranks);
      routes[static_cast<std::size_t>(direction)] = {
          topology.find_link(ring[rank], ring[peer]).value()};
    }
  }
  return machine;
}

sim::Machine plan_machine(const ExperimentConfig& config) {
  try {
    if (topology::chip_count(config.topology.shape) < 2)
      throw InputError("/topology", "a collective needs at least two chips");
    return make_machine(config.chip, config.topology.shape);
  } catch (const std::invalid_argument& error) {
    throw InputError("/topology", error.what());
  }
}

// --- Programs

/// A phase that is not quantized runs as in the plain ring of the tensor's type.
BlockFormat phase_format(const CollectiveConfig& config, QuantizedPhases only_other,
                         numerics::ElementFormat dtype) {
  if (config.algorithm == Algorithm::equarx && config.quantize == only_other)
    return {.element = dtype};
  return config.format;
}

collectives::RingOptions ring_options(const CollectiveConfig& config,
                                      numerics::ElementFormat dtype) {
  return {.style = config.ring,
          .reduce_scatter = phase_format(config, QuantizedPhases::all_gather, dtype),
          .all_gather = phase_format(config, QuantizedPhases::reduce_scatter, dtype),
          .minishards = config.minishards.value(),
          .microshards = config.microshards.value()};
}

void fill_in_pipeline(CollectiveConfig& config, std::uint64_t elements, std::uint32_t ranks) {
  const std::uint32_t segments = collectives::ring_segments(config.ring);
  const collectives::Partition whole(elements, ranks, segments, 1, 1);
  const std::uint64_t segment = whole.segment_elements();
  if (!config.minishards)
    config.minishards = collectives::default_minishards(config.format, segment);
  if (!config.microshards)
    config.microshards =
        collectives::default_microshards(config.format, segment, *config.minishards);
}

std::vector<double> instruction_costs(const collectives::Program& program,
                                      const hardware::Chip& chip, hardware::Memory memory) {
  // Every transfer is read from HBM where it leaves and written to it where it arrives.
  constexpr double kHbmPassesPerDirection = 2.0;
  double hbm_taken = 0.0;
  for (const std::uint64_t bytes : collectives::sent_bytes(program))
    if (bytes > 0) hbm_taken += kHbmPassesPerDirection * chip.link_rate();
  std::vector<double> costs_s;
  costs_s.reserve(program.instructions.size());
  for (const collectives::Instruction& instruction : program.instructions) {
    double cost_s = 0.0;
    if (collectives::is_vector_work(instruction.op)) {
      const collectives::Work work = collectives::work_of(program, instruction);
      cost_s = hardware::vector_time_s(chip, work.alu_operations, work.bytes, memory, hbm_taken);
    } else if (instruction.op == Op::send) {
      cost_s = chip.dma_overhead.value;
    } else if (instruction.op == Op::wait) {
      cost_s = chip.wait_overhead.value;
    }
    costs_s.push_back(cost_s);
  }
  return costs_s;
}

/// What one chip holds: its tensor and the result.
double working_set_bytes(const TensorConfig& tensor) {
  return 2.0 * static_cast<double>(tensor.bytes());
}

CollectivePlan plan_collective(CollectiveConfig config, const ExperimentConfig& experiment,
                               std::uint32_t ranks, const std::string& place) {
  const TensorConfig& tensor = experiment.tensor;
  fill_in_pipeline(config, tensor.elements, ranks);
  const hardware::Memory memory = working_set_bytes(tensor) <= experiment.chip.vmem_capacity.value
                                      ? hardware::Memory::vmem
                                      : hardware::Memory::hbm;
  try {
    collectives::Program program = collectives::make_ring_all_reduce(
        ranks, tensor.elements, tensor.dtype, ring_options(config, tensor.dtype));
    std::vector<double> costs_s = instruction_costs(program, experiment.chip, memory);
    return {std::move(config), std::move(program), std::move(costs_s)};
  } catch (const std::invalid_argument& error) {
    throw InputError(place, error.what());
  }
}

// --- Checks

void check_hbm(const ExperimentConfig& config) {
  const double needed = working_set_bytes(config.tensor);
  const double capacity = config.chip.hbm_capacity.value;
  if (needed > capacity)
    throw InputError("/tensor", fmt::format("needs {} on each chip (tensor and result), but {} has "
                                            "{} of HBM; use a tensor of at most {}",
                                            bytes_text(needed), config.chip.name,
                                            bytes_text(capacity), bytes_text(capacity / 2.0)));
}

/// Memory that the kernel says it can give; without such a file, no limit.
double available_memory_bytes() {
  constexpr double kBytesPerKiB = 1024.0;
  std::ifstream file("/proc/meminfo");
  std::string key;
  double kib = 0.0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib * kBytesPerKiB;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<double>::infinity();
}

void check_host_memory(const Plan& plan) {
  if (!plan.config.numerics) return;
  const auto threads = values::default_threads();
  double needed = 0.0;
  for (const CollectivePlan& collective : plan.collectives)
    needed =
        std::max(needed, static_cast<double>(values::memory_bytes(collective.program, threads)));
  needed += static_cast<double>(plan.config.tensor.bytes());  // the baseline's result
  const double available = available_memory_bytes();
  if (needed > available)
    throw InputError(
        "/tensor", fmt::format("computing its values needs {} of memory, and this computer has {}; "
                               "use more minishards, a smaller tensor, or \"numerics\": \"off\"",
                               bytes_text(needed), bytes_text(available)));
}

}  // namespace

Plan make_plan(const ExperimentConfig& config) {
  check_hbm(config);
  Plan plan{config, plan_machine(config), {}};
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    plan.collectives.push_back(plan_collective(config.collectives[i], config, plan.machine.ranks(),
                                               fmt::format("/collectives/{}", i)));
    plan.config.collectives[i] = plan.collectives.back().config;
  }
  check_host_memory(plan);
  return plan;
}

}  // namespace equarx::experiments
