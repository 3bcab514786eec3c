// A TPU chip and its links as data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/hardware/calibration.hpp"
#include "models/hardware/matrix_products.hpp"
#include "models/hardware/provenance.hpp"
#include "models/hardware/slices.hpp"
#include "models/units/quantity.hpp"

namespace equarx::hardware {

/// Between which values a parameter plausibly lies, each as likely as the others.
struct ParameterRange {
  double low = 0.0;
  double high = 0.0;

  bool operator==(const ParameterRange&) const = default;
};

/// One number of the model.
struct Parameter {
  double value = 0.0;  ///< base unit of its dimension; a plain number for a ratio
  Provenance provenance = Provenance::assumed;
  std::string source;
  std::optional<ParameterRange> range = std::nullopt;   ///< unit of the value, which lies in it
  std::optional<double> standard_error = std::nullopt;  ///< above 0; unit of the value
};

/// Its standard error; without one, the standard deviation of a uniform distribution over its range, which is
/// (high - low) / sqrt(12) (JCGM 100:2008, "Guide to the expression of uncertainty in measurement", 4.3.7).
/// Empty without either: the value is taken as exact.
std::optional<double> standard_uncertainty(const Parameter& parameter);

/// One chip type. A chip is one unit, also where it has two TensorCores: rates, bandwidths and
/// capacities are those of both together.
struct Chip {
  std::string name;
  std::string description;

  Parameter links;                   ///< to other chips; of a TPU, two for each axis of the torus
  Parameter link_bandwidth;          ///< B/s, one direction of one link
  Parameter link_efficiency;         ///< share of link_bandwidth that payload gets, (0, 1]
  Parameter hop_latency;             ///< s, from a link's far end of the wire to the semaphore
  Parameter shared_link_efficiency;  ///< share of the payload's rate that links reach which several
                                     ///< pairs of chips use, (0, 1]
  Parameter collective_startup;      ///< s of core time before a collective's first instruction
  Parameter hbm_capacity;            ///< B
  Parameter hbm_bandwidth;           ///< B/s
  Parameter hbm_efficiency;     ///< share of hbm_bandwidth that reading and writing reach, (0, 1]
  Parameter vmem_capacity;      ///< B
  Parameter vmem_bandwidth;     ///< B/s
  Parameter vector_rate;        ///< ALU op/s on FP32 lanes
  Parameter matrix_rate_bf16;   ///< op/s of matrix products of bf16, at peak
  Parameter matrix_efficiency;  ///< share of matrix_rate_* that matrix products reach, (0, 1]
  Parameter matrix_rate_int8;   ///< op/s of matrix products of int8, at peak
  Parameter matrix_rate_fp8;    ///< likewise of FP8; absent of a chip that has none
  Parameter
      matrix_rate_fp4;  ///< likewise of FP4 with scales of blocks that the matrix unit applies
  Parameter matrix_rate_fp32;  ///< likewise of FP32, of a TPU in several passes of bf16
  Parameter host_bandwidth;    ///< B/s each way between HBM and the host's memory; may be absent
  Parameter
      thread_block_rate;  ///< B/s that one thread block of a GPU sends, copies or adds; may be absent
  Parameter
      kernel_startup;  ///< s before the first step of a kernel that runs a schedule; may be absent
  Parameter instruction_overhead;  ///< s of core time to start one vector instruction
  Parameter dma_overhead;          ///< s of core time to start one remote DMA
  Parameter wait_overhead;         ///< s of core time for one semaphore wait, after the arrival
  Parameter barrier_time;          ///< s of core time for one barrier among neighbours
  Parameter step_sync_time;  ///< s of link time for the synchronisation before a quantized step
  Parameter dma_queue;  ///< transfers under way to one neighbour, before a send blocks the core

  Slices slices;
  MatrixProducts matrix_products = {};  ///< how matrix_efficiency depends on size, if it is known
  std::optional<Calibration> calibration = std::nullopt;  ///< if measurements were fitted together

  /// Payload bytes per second of one link direction.
  double link_rate() const { return link_bandwidth.value * link_efficiency.value; }
  /// Whether measurements on such chips were fitted. Where not, times rest on datasheets and assumptions.
  bool is_calibrated() const { return calibration && !calibration->observations.empty(); }
  /// Bytes per second that are read from and written to HBM, together.
  double hbm_rate() const { return hbm_bandwidth.value * hbm_efficiency.value; }
  /// What so many links take of it while all bring and take bytes: these are written where they arrive, and read
  /// where they leave.
  double hbm_rate_of_links(std::size_t links) const {
    constexpr double kPasses = 2.0;
    return kPasses * static_cast<double>(links) * link_rate();
  }
};

/// What kind of number a parameter is.
enum class ParameterKind : std::uint8_t {
  quantity,  ///< has a dimension, and a unit in files
  ratio,     ///< a plain number from 1e-9 to 1
  count,     ///< a positive integer
};

/// What a parameter is called in a hardware file, and what it may be.
struct ParameterInfo {
  std::string_view key;
  Parameter Chip::*member;
  ParameterKind kind;
  units::Dimension dimension;  ///< of a quantity
  bool may_be_zero;
  std::string_view description;
  bool may_be_absent =
      false;  ///< some chips do not have it, or nobody knows it: then its value is 0
};

/// Whether a chip does not have a parameter that chips may lack.
bool is_absent(const Chip& chip, const ParameterInfo& info);

/// Every parameter, declared once: files, checks, reports and help are made from this table.
std::span<const ParameterInfo> parameters();

/// The parameter of this key; none if there is none.
const ParameterInfo* find_parameter(std::string_view key);

/// The value as text with its unit.
std::string format_value(const ParameterInfo& info, const Parameter& parameter);

/// The same of any number in the parameter's unit.
std::string format_value(const ParameterInfo& info, double value);

/// How far the value may be off, for people: "+- 0.02 us", "5 ns to 20 ns"; empty if nothing is said.
std::string uncertainty_text(const ParameterInfo& info, const Parameter& parameter);

}  // namespace equarx::hardware
