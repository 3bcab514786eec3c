// Runs a program on tensors, without a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/values/result_tensor.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {

/// What a collective has made of the values.
struct ValueResult {
  numerics::ErrorMetrics against_exact;  ///< against the sum of all ranks' tensors in double
  std::optional<numerics::ErrorMetrics> against_baseline;
  bool ranks_identical = true;  ///< every rank ended with the same bits
  /// Bytes that were encoded and sent, by all ranks together, over each channel.
  std::vector<std::uint64_t> sent_bytes;
  std::vector<std::uint64_t> received_bytes;
  double sampled_fraction = 1.0;        ///< share of the tensor's elements that was computed
  std::uint64_t computed_elements = 0;  ///< all of the tensor's, unless a sample was asked for
  /// Of every quantization with scales, by all ranks together; zeros if it was not to be counted.
  numerics::QuantizeCounts quantized;
  /// Elements of the result whose code is the largest, of either sign, of those that were computed; with a scale that
  /// ranks share, else 0.
  std::uint64_t at_largest = 0;

  /// Share of quantized elements that were beyond the largest code, or became zero; 0 without any.
  double clipped_fraction() const;
  double flushed_fraction() const;
  double at_largest_fraction() const;
};

/// Equal parts of a tensor of which a sample takes some, whole: few enough to hold many elements, and many
/// enough that a sample of a few percent is not one place.
inline constexpr std::uint32_t kSampleWindows = 64;

/// What the quantizations of earlier steps have lost, by rank: as many numbers as its tensor has elements.
using Feedback = std::vector<std::span<float>>;

/// How values are computed, and what is done with them.
struct ValueOptions {
  unsigned threads = 0;                    ///< 0: one for each core
  const ResultTensor* baseline = nullptr;  ///< compare with this result, too
  ResultTensor* result = nullptr;          ///< keep the result here
  std::uint64_t rounding_seed = 1;         ///< of stochastic rounding
  double sample = 1.0;  ///< share of the tensor to compute, above 0; see execute()
  bool counts = true;   ///< whether to count what quantizing does to elements
  /// Error feedback: what is there is added to what the ranks bring, and replaced by what each rank's quantizations lose
  /// now, hop by hop. So what all steps deliver, and what is left here, is together what all steps brought, but for FP32
  /// sums and the rounding of results to the tensor's type. Of an AllReduce or ReduceScatter in which every sum is
  /// quantized by one rank only (not recursive doubling), without a sample. Errors are against what the ranks brought
  /// in this step. Values of scales that ranks share are those of what they brought.
  const Feedback* feedback = nullptr;
  /// Called now and then, by the thread that calls execute(), with the share that is computed, 0 to 1.
  std::function<void(double)> watch = {};
};

/// Runs `program` for all ranks on the tensors of `source`.
///
/// With a `sample` below 1 only the minishards that begin in about that share of kSampleWindows equal windows of the
/// tensor are computed: the same windows for every program, so that results can be compared.
///
/// No sum and no scale reaches out of a lane (lanes.hpp), so each lane of each chunk is computed alone,
/// for all ranks in lockstep (validate() promises that this is possible), and forgotten: memory is
/// ranks x lane for each thread. Where ranks share a scale, all tensors are read once more before, to find it. Neither the results nor their order depend on the number of
/// threads, all of which have ended when this returns.
ValueResult execute(const collectives::Program& program, const TensorSource& source,
                    const ValueOptions& options = {});

/// Bytes of memory that execute() takes with `threads` threads, without `result` and `baseline`.
std::uint64_t memory_bytes(const collectives::Program& program, unsigned threads);

/// Elements of all results that differ: the tensor's, and of an AllToAll every rank's.
std::uint64_t result_elements(const collectives::Program& program);

/// Threads that execute() uses for `threads` = 0.
unsigned default_threads();

}  // namespace equarx::values
