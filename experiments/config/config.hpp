// The configuration of an experiment: a machine, a tensor, and the collectives to compare.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/algorithm.hpp"
#include "models/collectives/arithmetic.hpp"
#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/collectives/work.hpp"
#include "models/experts/routing.hpp"
#include "models/formats/block_format.hpp"
#include "models/gemm/scheme.hpp"
#include "models/hardware/chip.hpp"
#include "models/hardware/protocol.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/stored/stored_format.hpp"
#include "models/values/tensor_source.hpp"
#include "models/workloads/attention.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/phase.hpp"
#include "models/workloads/transformer.hpp"
#include "topologies/grid.hpp"

namespace equarx::config {

/// How a configuration describes chips and links.
enum class TopologyKind : std::uint8_t {
  slice,            ///< a slice that the hardware is offered in, with its wraparound rule
  mesh,             ///< a grid without wraparound
  torus,            ///< a grid with wraparound, on all axes or on those given
  ring,             ///< chips in a circle
  fully_connected,  ///< a link between every two chips
  on_switch,        ///< a port of every chip on one non-blocking switch
  file,             ///< any graph, from a file
};

/// A link of a graph file. Absent values default to the hardware's.
struct GraphLink {
  topology::Cable cable{};
  std::optional<double> rate;       ///< payload bytes per second of each direction
  std::optional<double> latency_s;  ///< of each direction
};

/// Contents of a graph file.
struct GraphConfig {
  std::string name;
  std::string description;
  std::vector<std::string> chips;  ///< chip names
  std::vector<GraphLink> links;
};

/// A link that the ring must avoid, with the names of its chips.
struct AvoidedCable {
  std::string first;
  std::string second;
  topology::Cable cable{};
};

/// A data-centre network that joins several identical slices (or nodes). Each chip, or each group
/// of `chips_per_port` chips, has a port. The network core is never congested; messages share each
/// direction of a port.
struct NetworkConfig {
  std::uint32_t slices = 2;       ///< 2 or more
  hardware::Parameter bandwidth;  ///< payload of a port, B/s each way, above 0
  hardware::Parameter latency;    ///< s, from port to port
  std::uint32_t chips_per_port = 1;
};

struct PlannedTopology;

/// Chips and links, per slice if a network joins several.
struct TopologyConfig {
  TopologyKind kind = TopologyKind::slice;
  topology::GridShape shape;  ///< of a slice, mesh, torus or ring
  std::uint32_t chips = 0;    ///< of `fully_connected` and `on_switch`
  std::string file;           ///< path as the user wrote it
  GraphConfig graph;          ///< of `file`: contents
  std::optional<NetworkConfig> network;
  std::vector<AvoidedCable> avoid;  ///< links that the ring must not use
  /// Groups of a step on several slices: lengths of the parts of the mesh along which chips are numbered,
  /// parts of slices first. Empty: slices, then the chips of a slice.
  std::vector<std::uint32_t> numbering = {};
  /// Cache of planned_topology(): set if reading the configuration needed the chips and links.
  std::shared_ptr<const PlannedTopology> planned;
};

/// Rows that the ranks of an AllToAll exchange, and their source.
struct CountsConfig {
  std::string file;          ///< as the user wrote it; empty: by `routing`
  experts::Routing routing;  ///< of tokens to experts
  collectives::RowCounts counts;
  double dropped = 0.0;    ///< share of the routed rows beyond the capacity
  double imbalance = 1.0;  ///< busiest rank's experts relative to the mean, by routing
};

/// The tensor on each chip: size, type, and source of its values.
struct TensorConfig {
  /// Empty if the size was given in bytes; with `counts`, of one row.
  std::vector<std::uint64_t> shape;
  /// Per chip; with `counts`, including room for the most rows of any pair.
  std::uint64_t elements = 0;
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
  numerics::InputSpec values;       ///< used if `files` is empty
  std::vector<std::string> files;   ///< as the user wrote them
  std::optional<std::string> name;  ///< tensor name within each file
  tensors::TensorFiles opened;      ///< opened `files`, in the same order
  double sample = 1.0;              ///< share of the tensor whose values are computed
  /// Values of a residual, of the same size and type on all ranks; null: synthetic ones.
  std::shared_ptr<const TensorConfig> residual = nullptr;
  std::shared_ptr<const CountsConfig> counts = nullptr;  ///< of an AllToAllV

  std::uint64_t bytes() const { return elements * numerics::element_bits(dtype) / 8; }
};

/// Share of a tensor whose values are computed where a sample suffices: about 131,072 elements.
inline double small_sample(std::uint64_t elements) {
  constexpr double kElements = 1 << 17;
  return std::min(1.0, kElements / static_cast<double>(elements));
}

/// The quantized phases of an AllReduce; the other phase uses the tensor's type.
enum class QuantizedPhases : std::uint8_t { reduce_scatter, all_gather, both };

/// A format and its name in configurations.
struct NamedBlockFormat : numerics::BlockFormat {
  NamedBlockFormat() = default;
  NamedBlockFormat(std::string format_name, const numerics::BlockFormat& format)
      : BlockFormat(format), name(std::move(format_name)) {}

  std::string name = "bf16";
};

/// How tiling that the configuration leaves open is chosen.
enum class CutMode : std::uint8_t {
  fastest,  ///< fastest of several candidates, by simulation
  by_size,  ///< from the sizes of the parts alone
};

/// Where partial sums are rounded.
enum class RoundSums : std::uint8_t {
  hop,   ///< to the wire format, whenever they are sent
  rank,  ///< to the tensor's type, at every addition
  once,  ///< at the end: partial sums travel in FP32
};

/// Arithmetic of sums in a configuration.
struct ArithmeticConfig {
  std::string preset = {};  ///< name of the preset with these values; empty if there is none
  std::optional<numerics::ElementFormat> accumulate = {};  ///< std::nullopt: by `round`
  RoundSums round = RoundSums::hop;
  collectives::SumOrder order = collectives::SumOrder::arrival;
  collectives::OwnerKeeps owner = collectives::OwnerKeeps::sent;
  collectives::Subnormals subnormals = collectives::Subnormals::keep;
  collectives::Overflow overflow = collectives::Overflow::by_type;
  collectives::Residual residual = collectives::Residual::none;

  bool operator==(const ArithmeticConfig&) const = default;
};

/// A collective to run: algorithm, wire format, and tiling.
struct CollectiveConfig {
  std::string label;
  Algorithm algorithm = collectives::find_algorithm("ring");
  collectives::RingStyle ring = collectives::RingStyle::full_loop;
  QuantizedPhases quantize = QuantizedPhases::both;  ///< of a format with scales
  /// Type to which the tensor is cast before the collective (and the result back); std::nullopt: no
  /// cast.
  std::optional<numerics::ElementFormat> cast_to;
  /// Rotates the tensor in FP32 before the collective, and its result back
  /// (models/numerics/codec/hadamard.hpp).
  bool hadamard = false;
  /// Where the tensor is cast. Rotations are always separate.
  collectives::Casts casts = collectives::Casts::fused;
  NamedBlockFormat format;
  /// For hierarchical algorithms: format between slices, if it differs from `format`.
  std::optional<NamedBlockFormat> between;
  std::uint32_t elements_per_scale =
      collectives::kDefaultElementsPerScale;  ///< if `minishards` is not given
  std::optional<std::uint32_t> minishards;
  std::optional<std::uint32_t> microshards;
  /// NCCL's protocol; std::nullopt: the fastest that the chip has.
  std::optional<hardware::Protocol> protocol = hardware::Protocol::none;
  /// Thread blocks of a GPU that send and receive (Chip::thread_block_rate); not a limit if absent.
  std::optional<std::uint32_t> thread_blocks;
  CutMode cuts = CutMode::fastest;  ///< how missing minishards and microshards are chosen
  ArithmeticConfig arithmetic{};
  /// Chips that send to the server of "server" in some steps (When); all if absent. Not part of the
  /// JSON.
  std::optional<std::uint32_t> uploads = {};
  /// Part sizes chosen by a plan, kept when the configuration moves to another chip. Not part of
  /// the JSON.
  collectives::PartSizes sizes = {};
};

/// Type of the tensor inside the collective, for inputs of `dtype`: the cast type if it is cast,
/// FP32 if it is rotated.
numerics::ElementFormat tensor_type(const CollectiveConfig& collective,
                                    numerics::ElementFormat dtype);

/// True if ranks cast their inputs and results.
bool has_casts(const CollectiveConfig& collective);

/// Wire format of a phase; the tensor's type for a phase that is not quantized.
numerics::BlockFormat wire_format(const CollectiveConfig& collective, collectives::Phase phase,
                                  numerics::ElementFormat dtype);

/// A link that is slow or fails. Applies to both directions.
struct LinkFault {
  std::string first;  ///< the chips it joins, as the user named them
  std::string second;
  topology::Cable cable{};
  double bandwidth_factor = 1.0;     ///< above 0
  double extra_latency_s = 0.0;      ///< of each direction
  std::optional<double> fails_at_s;  ///< time of failure; the link is dead afterwards
};

/// A chip whose TensorCore is slower, or faster, than the others.
struct ChipFault {
  std::string name;  ///< as the user named it
  topology::ChipId chip = 0;
  double slowdown = 1.0;  ///< factor on its compute time, above 0
};

/// Degraded links and chips of a machine.
struct FaultsConfig {
  std::vector<LinkFault> links;
  std::vector<ChipFault> chips;

  bool empty() const { return links.empty() && chips.empty(); }
};

/// A GEMM scheme as the user wrote it.
struct SchemeConfig {
  std::string name;  ///< or path; empty for an object
  gemm::Scheme scheme;
};

/// A transformer's phase on all chips of the topology, with tensor parallelism: compute steps and
/// the AllReduces between them.
struct WorkloadConfig {
  std::string model_name;  ///< as the user wrote it: a name, or the path of a file
  workloads::Transformer model;
  workloads::Phase phase;
  workloads::AttentionMethod attention;
  workloads::ResidualPlace residual = workloads::ResidualPlace::hbm;
  workloads::ExpertMethod experts;
  /// Number of chunks of the positions, so that the AllReduce of one overlaps the compute of the
  /// next; 1: no overlap.
  std::uint32_t chunks = 1;
  std::optional<stored::StoredFormat> kv;  ///< of the KV cache; bf16 if absent
  SchemeConfig precision{"bf16", {}};      ///< of the matmuls with weights
  workloads::PhaseOperations operations;   ///< per chip, with all chips of the topology
};

/// Simulate every chip (full), or representative chips only (symmetric).
enum class SimulationMode : std::uint8_t { automatic, full, symmetric };

/// Simulation engine: a sim::Engine, or the best suited.
enum class EngineMode : std::uint8_t { automatic, simgrid, direct };

/// What a collective's time contains.
enum class TimedAs : std::uint8_t {
  program,  ///< a program of its own: also the chip's program_startup
  step,     ///< one operation inside a running program
};

/// Monte Carlo sampling of chip parameters, for intervals of times.
struct UncertaintyConfig {
  static constexpr std::uint32_t kDefaultSamples = 200;
  static constexpr std::uint32_t kFewestSamples = 10;  ///< 16 % of them are more than one sample
  static constexpr std::uint32_t kMostSamples = 100'000;
  static constexpr std::uint64_t kLargestSeed = 0xFFFFFFFF;

  std::uint32_t samples = 0;  ///< 0: none
  std::uint64_t seed = 1;

  /// Requests the default number of samples unless a number is given.
  void request() {
    if (samples == 0) samples = kDefaultSamples;
  }
};

/// Complete configuration of an experiment, with all defaults filled in.
struct ExperimentConfig {
  std::string hardware;  ///< name of a built-in chip, or the path of a file
  /// Parameters of that chip that the configuration overrides.
  std::vector<const hardware::ParameterInfo*> changed_parameters;
  hardware::Chip chip;  ///< with the overrides
  TopologyConfig topology;
  FaultsConfig faults;
  TensorConfig tensor;
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::vector<CollectiveConfig> collectives;
  std::size_t baseline = 0;  ///< index into `collectives`
  collectives::WireBuffers wire_buffers = collectives::WireBuffers::vmem;
  TimedAs timed_as = TimedAs::step;
  bool numerics = true;
  SimulationMode simulation = SimulationMode::automatic;
  EngineMode engine = EngineMode::automatic;
  UncertaintyConfig uncertainty;
  bool of_step =
      false;  ///< a collective of a step, whose machine others share. Not part of the JSON.
};

}  // namespace equarx::config
