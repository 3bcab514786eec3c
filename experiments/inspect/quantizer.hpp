// Quantizes a tensor piece by piece, on several threads, in the order of the tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "experiments/inspect/piece_line.hpp"
#include "experiments/inspect/quantize.hpp"
#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::inspect {

/// A tensor, wherever it lies.
struct Values {
  std::uint64_t elements = 0;
  /// Reads elements first, first + 1, ...; from several threads.
  std::function<void(std::uint64_t first, std::span<float>)> read;
};

/// A piece of the tensor on its way through the format.
struct Piece {
  numerics::AlignedVector<float> values;
  numerics::AlignedVector<float> decoded;
  numerics::QuantizeCounts counts;
  std::uint64_t bytes = 0;  ///< of payload and scales

  numerics::AlignedVector<float> amax;
  numerics::AlignedVector<float> scales;  ///< as they are decoded; none of a format without scales
  numerics::AlignedVector<std::byte> scale_bytes;
  numerics::AlignedVector<std::byte> payload;
};

/// How a tensor is cut into pieces, each of whole scale groups, and how many threads do them.
struct PieceCut {
  std::uint64_t elements;  ///< of the tensor
  std::uint64_t size;      ///< of a piece, but for the last
  unsigned threads;

  PieceCut(std::uint64_t elements, const QuantizeOptions& options);

  std::uint64_t pieces() const { return (elements + size - 1) / size; }
  std::uint64_t first(std::uint64_t piece) const { return piece * size; }
  std::size_t size_of(std::uint64_t piece) const;
};

/// Goes through the tensor from its start to its end. Threads quantize the pieces; errors, which are sums
/// of floating-point numbers, are added up in the order of the tensor, so that no bit of them depends
/// on the threads.
class Quantizer {
 public:
  Quantizer(Values values, const QuantizeOptions& options);

  bool at_end() const { return at_ == values_.elements; }
  /// The next piece. It may be read until the next call.
  const Piece& advance();
  /// The next dequantized values, as many as fit.
  void next(std::span<float> values);

  /// Of what was quantized so far, without a shape.
  QuantizeReport report() const;

 private:
  const Values values_;
  const numerics::BlockCodec codec_;
  const PieceCut cut_;
  const float
      largest_;  ///< finite amax of the tensor, if its format has a scale of the whole tensor
  std::uint64_t at_ = 0;
  std::span<const float> left_;  ///< of the piece that was taken: not yet given to next()
  std::uint64_t bytes_;          ///< of what was taken, and of a scale of the tensor
  numerics::ErrorAccumulator error_;
  numerics::QuantizeCounts counts_;
  std::vector<Piece> slots_;
  PieceLine line_;  ///< last: its threads end before what they use does
};

}  // namespace equarx::inspect
