// Gates: the tensor size from which each codec is faster than every plain collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/run/experiment.hpp"

namespace equarx::advise {

/// A size of gain_sizes(); std::nullopt beyond the largest.
using GateSize = std::optional<std::uint64_t>;

/// The gate of a codec on one machine.
struct Gate {
  std::string codec;      ///< label of the quantized collective
  std::string format;     ///< name of its format
  std::string algorithm;  ///< of the codec at the gate, or at the largest size without one
  GateSize from;          ///< smallest size from which all speedups exceed 1
  /// 68 % interval over the uncertainty of the machine's parameters and of the model; std::nullopt
  /// if nothing is uncertain.
  std::optional<std::pair<GateSize, GateSize>> interval;
  double speedup = 0.0;  ///< at the largest size, over the fastest plain collective
  double nmse = 0.0;     ///< at kErrorBytes
};

/// Tensor size of Gate::nmse in bytes.
inline constexpr std::uint64_t kErrorBytes = 1 << 20;

/// Gates of all codecs on one machine.
struct MachineGates {
  config::ExperimentConfig config;  ///< plain collectives first
  std::uint32_t ranks = 0;
  std::vector<Gate> gates;
  std::string why_not;  ///< error message if it has none
};

/// Simulates the codecs at gain_sizes() against the fastest plain collective of each size
/// (any algorithm, with and without NCCL's protocols). Codecs are
/// the quantized collectives of `config` as they are or, with `formats`, the fastest algorithm in each
/// of these; without either, in int8, fp8-e4m3 and int4. Algorithms are those of the nominal machine.
/// @throws InputError for collectives without sums, for unknown formats, and if nothing can run
MachineGates find_gates(const config::ExperimentConfig& config,
                        const std::vector<std::string>& formats, const run::Progress& progress);

}  // namespace equarx::advise
