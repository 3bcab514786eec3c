// Questions about collectives that other programs ask, and their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace equarx::predict {

/// A collective on a machine. Names are as in a configuration (docs/configuration.md).
struct Query {
  std::string collective = "all-reduce";
  std::uint64_t bytes = 0;  ///< on each rank: the larger of its input and output
  std::uint32_t ranks = 0;  ///< 0: all chips of the machine
  std::string dtype = "bf16";
  std::string format = {};         ///< on the wire; empty: the tensor's type
  std::string algorithm = "auto";  ///< "auto": the fastest
  std::string options = {};        ///< JSON object with further keys of a collective; empty: none

  bool operator==(const Query&) const = default;
};

/// Hash of a Query.
struct QueryHash {
  std::size_t operator()(const Query& query) const noexcept;
};

/// The answer to a query.
struct Prediction {
  double time_s = 0.0;  ///< on the nominal machine
  /// 68 % interval over the uncertainty of the machine's parameters and of the model, which may lie
  /// to one side of `time_s`; NaN without samples.
  /// @{
  double low_s = 0.0;
  double high_s = 0.0;
  /// @}
  std::uint32_t samples = 0;  ///< machines sampled for the interval; 0 without one
  /// Squared error over the squared exact result, on normal values or on the distribution of the
  /// machine's "tensor"; 0 if exact, NaN if not computed.
  double nmse = 0.0;
  double sqnr_db = 0.0;  ///< -10 log10(nmse): +Inf if exact, NaN if not computed
  std::uint32_t ranks = 0;
  std::uint32_t conversions =
      0;                        ///< roundings to types without scales, from an input to the result
  std::uint32_t encodings = 0;  ///< roundings to codes with scales, likewise
  bool sums_in_fp32 = true;     ///< values::RoundingPath::sums_in_fp32
  bool deterministic = true;    ///< no random rounding
  /// All ranks end with the same bits, as far as computed; without errors, by the arithmetic alone.
  bool ranks_identical = true;
  bool calibrated = false;  ///< hardware::Chip::is_calibrated()
  std::string algorithm;    ///< that runs
  std::string protocol;     ///< of NCCL; empty: none
};

}  // namespace equarx::predict
