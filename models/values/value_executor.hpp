// Executes a program on tensors, without timing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/ulp_counts.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/values/range_trace.hpp"
#include "models/values/result_tensor.hpp"
#include "models/values/tensor_source.hpp"
#include "models/values/value_record.hpp"

namespace equarx::values {

/// Outcome of a collective's numerics.
struct ValueResult {
  numerics::ErrorMetrics against_exact;  ///< reference: the exact result in double
  std::optional<numerics::ErrorMetrics> against_baseline;
  bool ranks_identical = true;  ///< true if all ranks end with the same bits
  std::uint64_t differing = 0;  ///< computed elements whose bits are not the same on all ranks
  /// Bytes encoded and sent over each channel, summed over all ranks.
  std::vector<std::uint64_t> sent_bytes;
  std::vector<std::uint64_t> received_bytes;
  double sampled_fraction = 1.0;        ///< share of the tensor's elements that were computed
  std::uint64_t computed_elements = 0;  ///< all of the tensor's elements without sampling
  /// Counts over every quantization with scales on all ranks; zeros if counting is off.
  numerics::QuantizeCounts quantized;
  /// Computed elements of the result whose code is the largest, of either sign; 0 unless the ranks
  /// share a scale.
  std::uint64_t at_largest = 0;
  RangeCounts ranges;        ///< magnitudes on the way; if requested
  numerics::UlpCounts ulps;  ///< against the exact result rounded once; if requested

  /// Shares of quantized elements that were clipped to the largest code, or flushed to zero; 0 if
  /// none were quantized.
  double clipped_fraction() const;
  double flushed_fraction() const;
  double at_largest_fraction() const;
};

/// Equal windows of a tensor; a sample computes some of them in full. Few enough that each holds
/// many elements, and many enough that a sample of a few percent covers several.
inline constexpr std::uint32_t kSampleWindows = 64;
/// Elements of the first window that are computed even if the sample is smaller.
inline constexpr std::uint64_t kLargeSample = std::uint64_t{1} << 20;

/// Quantization losses of earlier steps: one span per rank, of the size of its tensor.
using Feedback = std::vector<std::span<float>>;

/// Parts of a result, in elements of the first row.
struct Windows {
  std::vector<collectives::Range> ranges;
  std::vector<std::vector<float>> values;  ///< by range

  /// Evenly spread parts of a tensor: `count` of at most `size` elements, or all of it.
  static Windows spread(std::uint64_t elements, std::uint64_t count, std::uint64_t size);
};

/// Options of execute().
struct ValueOptions {
  unsigned threads = 0;                    ///< 0: one per core
  const ResultTensor* baseline = nullptr;  ///< also compare with this result
  ResultTensor* result = nullptr;   ///< write the result here, or its first elements if shorter
  std::uint64_t rounding_seed = 1;  ///< seed of stochastic rounding
  double sample = 1.0;              ///< share of the tensor to compute, above 0; see execute()
  Windows* windows = nullptr;       ///< compute only the units of these parts, and store them here
  bool counts = true;               ///< count clipped and flushed elements
  bool traffic = true;  ///< count bytes sent and received; else there are none of either
  /// Error feedback: the losses are added to the inputs, and replaced by the losses of each rank's
  /// quantizations in this step, hop by hop. Hence the sum of all delivered results and the final
  /// losses equals the sum of all inputs, up to FP32 summation and the rounding of results to the
  /// tensor's type. Requires an AllReduce or ReduceScatter in which every sum is quantized by a
  /// single rank (not recursive doubling), and no sampling. Errors are relative to the inputs of
  /// this step. Shared scales are computed from the inputs without the losses.
  const Feedback* feedback = nullptr;
  /// The residual of a program that adds one (collectives::Residual): rank 0 of a source of the
  /// size and type of the tensors.
  const TensorSource* residual = nullptr;
  bool contract = false;  ///< also compute ValueResult::ranges and ::ulps, in about twice the time
  /// Record every value here, of a collective that sums, without a sample. Uses one thread, and
  /// memory for several times ranks x tensor.
  ValueRecord* record = nullptr;
  /// Codec of formats with ScaleRule::own; required by programs that have one. Used by all threads.
  std::shared_ptr<const numerics::RuleCodec> own_codec = {};
  /// Called periodically, on the thread that calls execute(), with the completed fraction, 0 to 1.
  std::function<void(double)> watch = {};
};

/// Runs `program` for all ranks on the tensors of `source`.
///
/// With a `sample` below 1, only minishards that begin in about that share of kSampleWindows equal
/// windows of the tensor are computed: the same windows for every program, so that results are
/// comparable. A sample of less than a window computes the minishards that begin in its share of the
/// tensor, or in the first kLargeSample elements of the window if these are more.
///
/// No sum and no scale crosses a lane (lanes.hpp), so each lane of each chunk is computed on its
/// own, for all ranks in lockstep (which validate() guarantees to be possible), and then discarded:
/// memory is ranks x lane per thread. Lanes without scales, or with small scale groups, are computed
/// in parts (lane_parts.hpp), lanes with strided ones in parts of some columns (lane_columns.hpp): memory
/// is then ranks x part. Values and buffers of other large lanes are held while they are in use
/// (lane_uses.hpp). If the ranks share a scale, all tensors are read once
/// more beforehand to compute it. Results and their order are independent of the number of threads.
/// All threads have ended on return.
ValueResult execute(const collectives::Program& program, const TensorSource& source,
                    const ValueOptions& options = {});

/// Memory of execute(), in bytes, without `result` and `baseline`.
struct MemoryNeed {
  std::uint64_t of_thread = 0;
  std::uint64_t shared = 0;  ///< by all threads
  std::uint64_t units = 0;   ///< more threads take no more

  std::uint64_t bytes(unsigned threads) const {
    return std::min<std::uint64_t>(threads, units) * of_thread + shared;
  }
};

/// Memory of execute() for a program; takes a look at all its instructions.
MemoryNeed memory_need(const collectives::Program& program);

/// Memory of execute() with `threads` threads.
inline std::uint64_t memory_bytes(const collectives::Program& program, unsigned threads) {
  return memory_need(program).bytes(threads);
}

/// Elements of all distinct results: the size of the tensor, times the ranks for an AllToAll.
std::uint64_t result_elements(const collectives::Program& program);

/// Number of threads that execute() uses for `threads` = 0.
unsigned default_threads();

}  // namespace equarx::values
