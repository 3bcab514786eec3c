// Hardware parameters of a chip and its links.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/units/quantity.hpp"
#include "models/hardware/calibration.hpp"
#include "models/hardware/matrix_products.hpp"
#include "models/hardware/provenance.hpp"
#include "models/hardware/slices.hpp"

namespace equarx::hardware {

/// Plausible range of a parameter, uniformly distributed.
struct ParameterRange {
  double low = 0.0;
  double high = 0.0;

  bool operator==(const ParameterRange&) const = default;
};

/// One parameter of the hardware model.
struct Parameter {
  double value = 0.0;  ///< in the base unit of its dimension; a plain number for a ratio
  Provenance provenance = Provenance::assumed;
  std::string source;
  std::optional<ParameterRange> range = std::nullopt;   ///< contains the value; same unit
  std::optional<double> standard_error = std::nullopt;  ///< > 0; unit of the value
};

/// Returns the standard error; without one, the standard deviation of a uniform distribution over
/// the range, (high - low) / sqrt(12) (JCGM 100:2008, "Guide to the expression of uncertainty in
/// measurement", 4.3.7). std::nullopt if neither is given: the value is taken as exact.
std::optional<double> standard_uncertainty(const Parameter& parameter);

/// One chip type. A chip with two TensorCores is modelled as one unit: rates, bandwidths and
/// capacities are totals of both.
struct Chip {
  std::string name;
  std::string description;

  Parameter links;                   ///< to other chips; on a TPU, two per axis of the torus
  Parameter link_bandwidth;          ///< B/s, one direction of one link
  Parameter link_efficiency;         ///< payload share of link_bandwidth, (0, 1]
  Parameter hop_latency;             ///< s, from the far end of the wire to the semaphore
  Parameter shared_link_efficiency;  ///< share of the payload rate reached by links that several
                                     ///< pairs of chips use, (0, 1]
  Parameter collective_startup;  ///< s of core time before the first instruction of a collective
  Parameter hbm_capacity;        ///< B
  Parameter hbm_bandwidth;       ///< B/s
  Parameter hbm_efficiency;      ///< achievable share of hbm_bandwidth, (0, 1]
  Parameter vmem_capacity;       ///< B
  Parameter vmem_bandwidth;      ///< B/s
  Parameter vector_rate;         ///< ALU op/s on FP32 lanes
  Parameter matrix_rate_bf16;    ///< op/s, peak rate of bf16 GEMMs
  Parameter matrix_efficiency;   ///< achievable share of matrix_rate_*, (0, 1]; of bf16 alone if
                                 ///< the other types have their own
  Parameter matrix_rate_int8;    ///< op/s, peak rate of int8 GEMMs
  Parameter matrix_rate_fp8;     ///< likewise for FP8; absent if the chip does not support it
  Parameter matrix_rate_fp4;     ///< likewise for FP4 with block scales applied by the matrix unit
  Parameter matrix_rate_fp32;    ///< likewise for FP32; several bf16 passes on a TPU
  Parameter matrix_rate_int1;    ///< op/s of products of binary operands; may be absent
  Parameter matrix_rate_table;   ///< op/s of products looked up in tables, two per look-up
  Parameter host_bandwidth;      ///< B/s per direction between HBM and host memory; may be absent
  Parameter
      thread_block_rate;     ///< B/s that one GPU thread block sends, copies or adds; may be absent
  Parameter kernel_startup;  ///< s before the first step of a schedule kernel; may be absent
  // Tiles and workgroups of GPU kernels (workgroups.hpp); all or none of them.
  Parameter compute_units;        ///< that run workgroups concurrently and alike
  Parameter workgroups_per_unit;  ///< resident at once, sharing the rates below
  Parameter workgroup_tile;       ///< B of the tensor that a workgroup processes at a time
  Parameter tile_codec_time;      ///< s, at least, in which a workgroup encodes or decodes a tile
  Parameter peer_read_time;       ///< s from a peer's flag to its data in registers
  Parameter codec_rate;  ///< B/s of encoded bytes written and read by all compute units together
  Parameter copy_rate;   ///< likewise of plain bytes
  // Kernels of steps (models/workloads/roofline.hpp); each may be absent.
  Parameter operation_startup;        ///< s before the first byte of an operation of a step
  Parameter matrix_startup;           ///< s before the first FLOP of a GEMM or convolution
  Parameter matrix_hbm_efficiency;    ///< share of hbm_bandwidth reached by GEMM operands, (0, 1]
  Parameter matrix_efficiency_int8;   ///< achievable share of matrix_rate_int8, (0, 1]
  Parameter matrix_efficiency_fp8;    ///< achievable share of matrix_rate_fp8, (0, 1]
  Parameter matrix_efficiency_fp4;    ///< achievable share of matrix_rate_fp4, (0, 1]
  Parameter matrix_efficiency_fp32;   ///< achievable share of matrix_rate_fp32, (0, 1]
  Parameter matrix_efficiency_int1;   ///< achievable share of matrix_rate_int1, (0, 1]
  Parameter matrix_efficiency_table;  ///< achievable share of matrix_rate_table, (0, 1]
  Parameter convolution_efficiency;   ///< achievable share of the bf16 peak of convolutions, (0, 1]
  Parameter attention_efficiency;  ///< achievable share of the bf16 peak of fused attention, (0, 1]
  Parameter attention_backward_efficiency;  ///< likewise, of its backward pass
  Parameter attention_row_time;             ///< s per query row of a head, for every two products
  Parameter amax_efficiency;     ///< share of hbm_rate() of casts that find an amax, (0, 1]
  Parameter sort_rate;           ///< comparisons/s of sorts
  Parameter decode_rate;         ///< weights/s that GEMMs decode
  Parameter decoded_efficiency;  ///< achievable share of the bf16 peak of such GEMMs, (0, 1]
  Parameter step_overhead;       ///< time of training steps outside of their operations, as a
                                 ///< share of the time of their GEMMs in bf16, (0, 1]
  Parameter program_startup;  ///< s of core time before a collective that is timed as a program of
                              ///< its own (launch, entry), of any format; may be absent
  // Protocols of NCCL (protocol.hpp); absent if the chip's software has none.
  Parameter ll_startup;          ///< s before the first message
  Parameter ll_hop_latency;      ///< s per message between two chips
  Parameter ll_efficiency;       ///< payload share of link_bandwidth
  Parameter ll128_startup;       ///< likewise for LL128
  Parameter ll128_hop_latency;   ///< likewise
  Parameter ll128_efficiency;    ///< likewise
  Parameter simple_startup;      ///< likewise for Simple
  Parameter simple_hop_latency;  ///< likewise
  Parameter simple_efficiency;   ///< likewise
  // The same between nodes, and in trees.
  Parameter ll_network_latency;          ///< s per message across a network, beyond its own latency
  Parameter ll128_network_latency;       ///< likewise
  Parameter simple_network_latency;      ///< likewise
  Parameter ll_network_bandwidth;        ///< B/s of payload that leaves a node under LL, at most
  Parameter ll_tree_hop_latency;         ///< s per message of a tree between two chips
  Parameter ll128_tree_hop_latency;      ///< likewise
  Parameter simple_tree_hop_latency;     ///< likewise
  Parameter ll_tree_network_latency;     ///< s per message of a tree across a network
  Parameter ll128_tree_network_latency;  ///< likewise
  Parameter simple_tree_network_latency;  ///< likewise
  Parameter tree_efficiency;              ///< rate of trees relative to rings, (0, 1]
  Parameter
      switch_efficiency;     ///< payload share of link_bandwidth while a switch adds or multiplies
  Parameter switch_startup;  ///< s of a sum in the switch under a protocol, hops included
  Parameter instruction_overhead;  ///< s of core time to start one vector instruction
  Parameter dma_overhead;          ///< s of core time to start one remote DMA
  Parameter wait_overhead;         ///< s of core time for one semaphore wait, after the arrival
  Parameter barrier_time;          ///< s of core time for one barrier with the neighbours
  Parameter step_sync_time;        ///< s of link time for the sync before a quantized step
  Parameter dma_queue;  ///< outstanding transfers to one neighbour before a send blocks the core
  // Cost and energy (energy.hpp); each may be absent, and no time depends on them.
  Parameter price;          ///< $/h of a chip with its share of the host
  Parameter power_idle;     ///< W of a chip with its memory, without the host, while it waits
  Parameter power_busy;     ///< likewise, while its matrix unit or HBM is busy
  Parameter energy_bf16;    ///< J/op of bf16 GEMMs; a multiplication and an addition are two
  Parameter energy_fp32;    ///< likewise for FP32
  Parameter energy_int8;    ///< likewise for int8
  Parameter energy_fp8;     ///< likewise for FP8
  Parameter energy_fp4;     ///< likewise for FP4
  Parameter energy_int1;    ///< likewise for binary operands
  Parameter energy_table;   ///< likewise for look-ups, two operations each
  Parameter energy_vector;  ///< J/op of FP32 vector ALU operations
  Parameter energy_hbm;     ///< J/B read from HBM or written to it
  Parameter energy_vmem;    ///< J/B read from VMEM or written to it
  Parameter energy_link;    ///< J/B over one link direction

  Slices slices;
  MatrixProducts matrix_products = {};  ///< dependence of matrix_efficiency on size, if known
  std::optional<Calibration> calibration = std::nullopt;  ///< joint fit to measurements, if any

  /// Payload rate of one link direction in B/s.
  double link_rate() const { return link_bandwidth.value * link_efficiency.value; }
  /// True if parameters were fitted to measurements; otherwise times rely on datasheets and
  /// assumptions.
  bool is_calibrated() const { return calibration && !calibration->observations.empty(); }
  /// Combined HBM read and write rate in B/s.
  double hbm_rate() const { return hbm_bandwidth.value * hbm_efficiency.value; }
  /// HBM rate in B/s used by `links` saturated links: outgoing bytes are read from HBM, incoming
  /// bytes are written to it.
  double hbm_rate_of_links(std::size_t links) const {
    constexpr double kPasses = 2.0;
    return kPasses * static_cast<double>(links) * link_rate();
  }
};

/// Kind of number of a parameter.
enum class ParameterKind : std::uint8_t {
  quantity,  ///< has a dimension, and a unit in hardware files
  ratio,     ///< a plain number from 1e-9 to 1
  count,     ///< a positive integer
};

/// Key and constraints of a parameter in a hardware file.
struct ParameterInfo {
  std::string_view key;
  Parameter Chip::*member;
  ParameterKind kind;
  units::Dimension dimension;  ///< of a quantity; ignored otherwise
  bool may_be_zero;
  std::string_view description;
  bool may_be_absent =
      false;  ///< true if some chips lack it or it is unspecified; its value is then 0
  bool affects_times = true;  ///< false for prices, powers and energies
};

/// True if the parameter is optional and absent from the chip.
bool is_absent(const Chip& chip, const ParameterInfo& info);

/// Returns the table of all parameters; files, checks, reports and help are generated from it.
std::span<const ParameterInfo> parameters();

/// Returns the parameter with the key; nullptr if unknown.
const ParameterInfo* find_parameter(std::string_view key);

/// Formats the value with its unit.
std::string format_value(const ParameterInfo& info, const Parameter& parameter);

/// Formats any number in the parameter's unit.
std::string format_value(const ParameterInfo& info, double value);

/// Formats the uncertainty: "+- 0.02 us", "5 ns to 20 ns"; empty if unspecified.
std::string uncertainty_text(const ParameterInfo& info, const Parameter& parameter);

}  // namespace equarx::hardware
