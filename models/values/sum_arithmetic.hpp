// Additions and conversions by the arithmetic of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/collectives/arithmetic.hpp"
#include "models/formats/block_format.hpp"
#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/values/range_trace.hpp"

namespace equarx::values {

/// Largest finite value of a tensor type; +Inf for FP32, which every value here has.
float largest_value(numerics::ElementFormat type);

/// The encoded values of one rank.
struct EncodedTerm {
  std::span<const std::byte> payload;
  std::size_t in_minishard = 0;   ///< offset of the payload in its minishard
  std::span<const float> scales;  ///< of the minishard; empty for formats without scales
};

/// Arithmetic of a program's sums, on values in FP32. Traces their ranges if asked to. Holds scratch
/// memory; one per thread.
class SumArithmetic {
 public:
  SumArithmetic(const collectives::Arithmetic& arithmetic, bool traces)
      : arithmetic_(arithmetic), traces_(traces) {}

  /// Prepares for a unit whose first element is `first` and which has `real` elements without
  /// padding.
  void start(std::uint64_t first, std::size_t real) { trace_.start(first, real); }
  /// Traces the inputs of a rank.
  void trace_input(std::span<const float> values) {
    if (traces_) trace_.input(values);
  }
  /// True if convert() differs from the conversion of a codec, or traces it.
  bool changes_conversions() const {
    return traces_ || arithmetic_.overflow != collectives::Overflow::by_type;
  }
  /// All zero unless traced.
  const RangeCounts& ranges() const { return trace_.counts(); }

  /// Computes sums = sums + decoded term. Both operands are converted to the accumulator's type
  /// first, and the sum is rounded to it.
  void add(const RangeTrace::Place& place, const numerics::BlockCodec& format,
           const EncodedTerm& term, std::span<float> sums);
  /// Computes sums = sums + weight x decoded term in FP32, the product rounded before.
  void add_weighted(const numerics::BlockCodec& format, const EncodedTerm& term, float weight,
                    std::span<float> sums);
  /// As add(), with decoded terms.
  void add(const RangeTrace::Place& place, std::span<const float> terms, std::span<float> sums);
  /// Computes sums = sums + terms in FP32 and rounds to a tensor type, as an operation of its own
  /// does.
  void add_tensor(const RangeTrace::Place& place, numerics::ElementFormat type,
                  std::span<const float> terms, std::span<float> sums);
  /// As add(), then raises `amax` by the sums as BlockCodec::find_amax() does.
  void add_and_find_amax(const RangeTrace::Place& place, const numerics::BlockCodec& format,
                         const EncodedTerm& term, std::span<float> sums, std::span<float> amax);
  /// Rounds values to a tensor type in place, with the overflow of the arithmetic.
  void convert(const RangeTrace::Place& place, numerics::ElementFormat type,
               std::span<float> values);

 private:
  numerics::ElementFormat type() const {
    return arithmetic_.accumulate.value_or(numerics::ElementFormat::fp32);
  }
  /// True if sums are plain FP32 additions without a trace.
  bool is_plain() const {
    return !traces_ && type() == numerics::ElementFormat::fp32 &&
           arithmetic_.subnormals == collectives::Subnormals::keep;
  }
  void to_accumulator(const RangeTrace::Place& place, std::span<float> values);
  void add_fp32(const RangeTrace::Place& place, std::span<const float> terms,
                std::span<float> sums);
  void add_term(const RangeTrace::Place& place, std::span<float> sums);

  collectives::Arithmetic arithmetic_;
  bool traces_;
  RangeTrace trace_;
  numerics::AlignedVector<float> term_;    ///< scratch
  numerics::AlignedVector<float> before_;  ///< scratch
};

}  // namespace equarx::values
