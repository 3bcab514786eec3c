// What a user asks for: a machine, a tensor, and the collectives to compare on them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/algorithm.hpp"
#include "models/collectives/cut_rule.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/collectives/work.hpp"
#include "models/formats/block_format.hpp"
#include "models/hardware/chip.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/values/tensor_source.hpp"
#include "models/workloads/attention.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/phase.hpp"
#include "models/workloads/recipe.hpp"
#include "models/workloads/transformer.hpp"
#include "topologies/grid.hpp"

namespace equarx::config {

/// How a user describes the chips and cables.
enum class TopologyKind : std::uint8_t {
  slice,            ///< one that the hardware is offered in, with its wraparound rule
  mesh,             ///< a grid without wraparound
  torus,            ///< a grid with wraparound, on all axes or on those given
  ring,             ///< chips in a circle
  fully_connected,  ///< a cable between every two chips
  file,             ///< any graph, from a file
};

/// A cable of a graph file. What is not given is the hardware's own.
struct GraphLink {
  topology::Cable cable{};
  std::optional<double> rate;       ///< payload bytes per second of each direction
  std::optional<double> latency_s;  ///< of each direction
};

/// What a graph file says.
struct GraphConfig {
  std::string name;
  std::string description;
  std::vector<std::string> chips;  ///< their names
  std::vector<GraphLink> links;
};

/// A cable that the ring must not use, by the names of the chips that it joins.
struct AvoidedCable {
  std::string first;
  std::string second;
  topology::Cable cable{};
};

/// A data-centre network that joins several slices (or nodes), all alike. Every chip, or several together, has a port;
/// inside, the network is never busy. Either direction of a port is shared by the messages that pass it.
struct NetworkConfig {
  std::uint32_t slices = 2;  ///< 2 or more
  double rate = 0.0;         ///< payload of a port, B/s each way, above 0
  double latency_s = 0.0;    ///< from port to port
  std::uint32_t chips_per_port = 1;
};

struct PlannedTopology;

/// Which chips there are, and how cables join them: of one slice, where a network joins several.
struct TopologyConfig {
  TopologyKind kind = TopologyKind::slice;
  topology::GridShape shape;  ///< of a slice, mesh, torus or ring
  std::uint32_t chips = 0;    ///< of `fully_connected`
  std::string file;           ///< of `file`: its path as the user wrote it
  GraphConfig graph;          ///< of `file`: its contents
  std::optional<NetworkConfig> network;
  std::vector<AvoidedCable> avoid;  ///< the ring is planned around them
  /// Its chips and links, if reading the configuration needed them: planned_topology() makes them once.
  std::shared_ptr<const PlannedTopology> planned;
};

/// The tensor that each chip has: its size, its type, and where its values come from.
struct TensorConfig {
  std::vector<std::uint64_t> shape;  ///< empty if the size was given in bytes
  std::uint64_t elements = 0;        ///< on each chip
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
  numerics::InputSpec values;       ///< unless there are files
  std::vector<std::string> files;   ///< as the user wrote them
  std::optional<std::string> name;  ///< of the tensor within each file
  tensors::TensorFiles opened;      ///< the files, in the same order
  double sample = 1.0;              ///< share of the tensor whose values are computed

  std::uint64_t bytes() const { return elements * numerics::element_bits(dtype) / 8; }
};

/// The phases of an AllReduce that are quantized; the other is sent in the type of the tensor.
enum class QuantizedPhases : std::uint8_t { reduce_scatter, all_gather, both };

/// A format, and the name that it goes by in configurations.
struct NamedBlockFormat : numerics::BlockFormat {
  NamedBlockFormat() = default;
  NamedBlockFormat(std::string format_name, const numerics::BlockFormat& format)
      : BlockFormat(format), name(std::move(format_name)) {}

  std::string name = "bf16";
};

/// How the cuts that a configuration does not give are chosen.
enum class CutMode : std::uint8_t {
  fastest,  ///< the fastest of some, by simulation
  by_size,  ///< by the sizes of the parts alone
};

/// A collective to run: its algorithm, its format on the wire, and how it cuts the tensor.
struct CollectiveConfig {
  std::string label;
  Algorithm algorithm = collectives::find_algorithm("ring");
  collectives::RingStyle ring = collectives::RingStyle::full_loop;
  QuantizedPhases quantize = QuantizedPhases::both;  ///< of a format with scales
  /// The tensor is cast to this type before the collective, and its result back; not if it has none.
  std::optional<numerics::ElementFormat> cast_to;
  /// The tensor is rotated in FP32 before the collective, and its result back (models/numerics/codec/hadamard.hpp).
  bool hadamard = false;
  NamedBlockFormat format;
  /// Of an algorithm of slices: what is sent between them, if it is not `format`.
  std::optional<NamedBlockFormat> between;
  std::uint32_t elements_per_scale =
      collectives::kDefaultElementsPerScale;  ///< if `minishards` is not given
  std::optional<std::uint32_t> minishards;
  std::optional<std::uint32_t> microshards;
  CutMode cuts = CutMode::fastest;  ///< of what is not given
  /// What a plan has chosen; the same configuration keeps it on other chips. Not read, and not written.
  collectives::PartSizes sizes = {};
};

/// The type of the tensor that the collective is of, where the ranks bring `dtype`: what it is cast to, if it is; FP32 if
/// it is rotated.
numerics::ElementFormat tensor_type(const CollectiveConfig& collective,
                                    numerics::ElementFormat dtype);

/// Whether ranks cast what they bring, and their results back.
bool has_casts(const CollectiveConfig& collective);

/// What a phase is sent in: a phase that is not quantized in the type of the tensor.
numerics::BlockFormat wire_format(const CollectiveConfig& collective, collectives::Phase phase,
                                  numerics::ElementFormat dtype);

/// A cable that is slower than the others, or breaks. Both directions.
struct LinkFault {
  std::string first;  ///< the chips that it joins, as the user named them
  std::string second;
  topology::Cable cable{};
  double bandwidth_factor = 1.0;     ///< above 0
  double extra_latency_s = 0.0;      ///< of each direction
  std::optional<double> fails_at_s;  ///< from then on it moves nothing
};

/// A chip whose core is slower, or faster, than the others.
struct ChipFault {
  std::string name;  ///< as the user named it
  topology::ChipId chip = 0;
  double slowdown = 1.0;  ///< factor on its core time, above 0
};

/// What is slow or broken of a machine.
struct FaultsConfig {
  std::vector<LinkFault> links;
  std::vector<ChipFault> chips;

  bool empty() const { return links.empty() && chips.empty(); }
};

/// A transformer's phase on all chips of the topology, by tensor parallelism: compute steps, and the
/// AllReduces between them.
struct WorkloadConfig {
  std::string model_name;  ///< as the user wrote it: a name, or the path of a file
  workloads::Transformer model;
  workloads::Phase phase;
  workloads::AttentionMethod attention;
  workloads::ResidualPlace residual = workloads::ResidualPlace::hbm;
  /// Parts of the positions, so that the AllReduce of one goes on beside the compute steps of the next; 1:
  /// it does not.
  std::uint32_t chunks = 1;
  const workloads::Recipe* recipe = &workloads::recipes().front();  ///< of products with weights
  workloads::PhaseOperations operations;  ///< of each chip, on all chips of the topology
};

/// Whether every chip is simulated, or representatives stand for all.
enum class SimulationMode : std::uint8_t { automatic, full, symmetric };

/// What moves the clock: sim::Engine, or whichever befits.
enum class EngineMode : std::uint8_t { automatic, simgrid, direct };

/// How intervals of times are found: from chips that are drawn at random, as they may be.
struct UncertaintyConfig {
  static constexpr std::uint32_t kDefaultSamples = 200;
  static constexpr std::uint32_t kFewestSamples = 10;  ///< of which 16 % are more than one
  static constexpr std::uint32_t kMostSamples = 100'000;
  static constexpr std::uint64_t kLargestSeed = 0xFFFFFFFF;

  std::uint32_t samples = 0;  ///< 0: none
  std::uint64_t seed = 1;
};

/// All that a user asks for in one experiment, with every default filled in.
struct ExperimentConfig {
  std::string hardware;  ///< as the user wrote it: a name, or the path of a file
  /// What the configuration itself changes of that chip.
  std::vector<const hardware::ParameterInfo*> changed_parameters;
  hardware::Chip chip;  ///< with the changes
  TopologyConfig topology;
  FaultsConfig faults;
  std::optional<WorkloadConfig>
      workload;  ///< its AllReduce is what is computed, and timed among the rest
  TensorConfig tensor;
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::vector<CollectiveConfig> collectives;
  std::size_t baseline = 0;  ///< index into `collectives`
  collectives::WireBuffers wire_buffers = collectives::WireBuffers::vmem;
  bool numerics = true;
  SimulationMode simulation = SimulationMode::automatic;
  EngineMode engine = EngineMode::automatic;
  UncertaintyConfig uncertainty;
};

}  // namespace equarx::config
