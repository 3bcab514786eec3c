#include "experiments/plan.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "experiments/costs.hpp"
#include "experiments/input_error.hpp"
#include "experiments/topology_plan.hpp"
#include "models/collectives/pipeline.hpp"
#include "models/collectives/traffic.hpp"
#include "models/units/quantity.hpp"
#include "models/values/value_executor.hpp"
#include "topologies/topology.hpp"

namespace equarx::experiments {
namespace {

using collectives::Direction;
using collectives::Op;
using numerics::BlockFormat;

std::string bytes_text(double bytes) { return units::format_short(bytes, units::Dimension::bytes); }

// --- Machine

/// Ranks along a ring through all chips, each linked to the next one in both directions.
sim::Machine plan_machine(const ExperimentConfig& config) {
  if (count_chips(config.topology) < 2)
    throw InputError("/topology", "a collective needs at least two chips");
  const PlannedTopology topology = plan_topology(config.topology, config.chip);
  const topology::Topology& graph = topology.graph;
  const std::vector<topology::ChipId> ring = plan_ring(config.topology, topology);
  sim::Machine machine;
  machine.dma_queue = static_cast<std::uint32_t>(config.chip.dma_queue.value);
  for (topology::LinkId id = 0; id < graph.link_count(); ++id) {
    const topology::Link link = graph.link(id);
    machine.links.push_back({fmt::format("{}->{}", graph.label(link.from), graph.label(link.to)),
                             topology.links[id].rate, topology.links[id].latency_s});
  }
  const auto ranks = static_cast<std::uint32_t>(ring.size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    machine.chip_names.push_back(graph.label(ring[rank]));
    auto& routes = machine.routes.emplace_back();
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const std::uint32_t peer = collectives::neighbour(rank, direction, ranks);
      routes[static_cast<std::size_t>(direction)] = {
          graph.find_link(ring[rank], ring[peer]).value()};
    }
  }
  return machine;
}

std::optional<sim::Machine> plan_representative(const ExperimentConfig& config,
                                                const sim::Machine& machine) {
  if (config.simulation != SimulationMode::symmetric) return std::nullopt;
  try {
    return sim::representative(machine);
  } catch (const std::invalid_argument& error) {
    throw InputError("/simulation", error.what());
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
    config.minishards =
        collectives::default_minishards(config.format, segment, config.elements_per_scale);
  if (!config.microshards)
    config.microshards =
        collectives::default_microshards(config.format, segment, *config.minishards);
}

/// The buffers of quantized minishards must fit in VMEM: FP32 sums and the wire's bytes in and out, for
/// every segment, twice, because one minishard is on the wire while another is summed.
void check_vmem(const collectives::Program& program, const hardware::Chip& chip,
                const std::string& place) {
  constexpr double kBuffersPerElement = 2.0;
  constexpr double kSumAndWireBytes = 4.0 + 1.0 + 1.0;
  if (!program.formats[0].scaled && !program.formats[1].scaled) return;
  const auto segment =
      static_cast<double>(program.partition.segment_elements()) * program.partition.segments();
  const double needed =
      kBuffersPerElement * kSumAndWireBytes * segment / program.partition.minishards();
  if (needed > chip.vmem_capacity.value)
    throw InputError(
        place + "/minishards",
        fmt::format("minishards of this size need {} of VMEM for their sums and buffers, and {} "
                    "has {}; use at least {} minishards",
                    bytes_text(needed), chip.name, bytes_text(chip.vmem_capacity.value),
                    std::ceil(needed * program.partition.minishards() / chip.vmem_capacity.value)));
}

/// What one chip holds: its tensor and the result.
double working_set_bytes(const TensorConfig& tensor) {
  return 2.0 * static_cast<double>(tensor.bytes());
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

/// Whether the program can be made, before it is.
void check_program_size(const collectives::Partition& partition, const std::string& place) {
  // A message with its buffer, about four instructions with their costs, and two steps of the timeline;
  // doubled, because vectors grow by doubling.
  constexpr double kBytesPerMessage = 512.0;
  constexpr double kMostMessages = 0x1p29;  // indices of instructions have 32 bits
  const double pieces = static_cast<double>(partition.minishards()) *
                        (static_cast<double>(partition.microshards()) + 1.0);
  const double messages = static_cast<double>(collectives::kPhases) * (partition.shards() - 1.0) *
                          partition.segments() * pieces;
  const double available = available_memory_bytes();
  if (messages > kMostMessages || messages * kBytesPerMessage > available)
    throw InputError(
        place,
        fmt::format("takes {:.3g} messages of each chip ({} minishards x {} "
                    "microshards, {} chips) and {} of memory, and this computer has {}; "
                    "use fewer minishards or microshards, fewer chips, or a smaller "
                    "tensor",
                    messages, partition.minishards(), partition.microshards(), partition.shards(),
                    bytes_text(messages * kBytesPerMessage), bytes_text(available)));
}

CollectivePlan plan_collective(CollectiveConfig config, const ExperimentConfig& experiment,
                               std::uint32_t ranks, const std::string& place) {
  const TensorConfig& tensor = experiment.tensor;
  fill_in_pipeline(config, tensor.elements, ranks);
  try {
    check_program_size(
        collectives::Partition(tensor.elements, ranks, collectives::ring_segments(config.ring),
                               *config.minishards, *config.microshards),
        place);
    collectives::Program program = collectives::make_ring_all_reduce(
        ranks, tensor.elements, tensor.dtype, ring_options(config, tensor.dtype));
    check_vmem(program, experiment.chip, place);
    sim::Costs costs = program_costs(program, experiment.chip);
    return {std::move(config), std::move(program), std::move(costs)};
  } catch (const std::invalid_argument& error) {
    throw InputError(place, error.what());
  }
}

// --- Checks

void check_hbm_capacity(const ExperimentConfig& config) {
  const double needed = working_set_bytes(config.tensor);
  const double capacity = config.chip.hbm_capacity.value;
  if (needed > capacity)
    throw InputError("/tensor", fmt::format("needs {} on each chip (tensor and result), but {} has "
                                            "{} of HBM; use a tensor of at most {}",
                                            bytes_text(needed), config.chip.name,
                                            bytes_text(capacity), bytes_text(capacity / 2.0)));
}

/// A plain AllGather receives into HBM and forwards from there. Transfers are timed by their links alone,
/// which is right as long as the memory is faster than all of them together.
void check_hbm_bandwidth(const ExperimentConfig& config) {
  constexpr double kHbmPasses = 2.0;  // written where it arrives, read where it leaves
  const double taken = kHbmPasses * collectives::kDirections * config.chip.link_rate();
  if (taken > config.chip.hbm_bandwidth.value)
    throw InputError(
        "/hardware",
        fmt::format(
            "hbm_bandwidth {} of {} is below the {} that its links take; check the file",
            units::format_short(config.chip.hbm_bandwidth.value, units::Dimension::bandwidth),
            config.chip.name, units::format_short(taken, units::Dimension::bandwidth)));
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
  check_hbm_capacity(config);
  check_hbm_bandwidth(config);
  Plan plan{config, plan_machine(config), {}, {}};
  plan.representative = plan_representative(config, plan.machine);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    plan.collectives.push_back(plan_collective(config.collectives[i], config, plan.machine.ranks(),
                                               fmt::format("/collectives/{}", i)));
    plan.config.collectives[i] = plan.collectives.back().config;
  }
  check_host_memory(plan);
  return plan;
}

}  // namespace equarx::experiments
