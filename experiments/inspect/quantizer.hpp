// Quantizes a tensor in pieces, on several threads, in element order.
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

/// A tensor from any source.
struct Values {
  std::uint64_t elements = 0;
  /// Reads elements first, first + 1, ...; thread-safe.
  std::function<void(std::uint64_t first, std::span<float>)> read;
};

/// A piece of the tensor with its intermediate values.
struct Piece {
  numerics::AlignedVector<float> values;
  numerics::AlignedVector<float> decoded;
  numerics::QuantizeCounts counts;
  std::uint64_t bytes = 0;  ///< of payload and scales

  numerics::AlignedVector<float> amax;
  numerics::AlignedVector<float> scales;  ///< decoded scales; empty for a format without scales
  numerics::AlignedVector<std::byte> scale_bytes;
  numerics::AlignedVector<std::byte> payload;
};

/// Division of a tensor into pieces of whole scale groups, and the number of threads.
struct PieceCut {
  std::uint64_t elements;  ///< of the tensor
  std::uint64_t size;      ///< of a piece, except the last
  unsigned threads;

  PieceCut(std::uint64_t elements, const QuantizeOptions& options);

  std::uint64_t pieces() const { return (elements + size - 1) / size; }
  std::uint64_t first(std::uint64_t piece) const { return piece * size; }
  std::size_t size_of(std::uint64_t piece) const;
};

/// Traverses the tensor once. Threads quantize the pieces; errors, which are floating-point sums,
/// are accumulated in element order, so that they do not depend on the threads, bit for bit.
class Quantizer {
 public:
  Quantizer(Values values, const QuantizeOptions& options);

  bool at_end() const { return at_ == values_.elements; }
  /// Advances to the next piece, which stays valid until the next call.
  const Piece& advance();
  /// Copies the next dequantized values, as many as fit.
  void next(std::span<float> values);

  /// Report on the elements so far, without a shape.
  QuantizeReport report() const;

 private:
  const Values values_;
  const numerics::BlockCodec codec_;
  const PieceCut cut_;
  const float largest_;  ///< largest finite amax of the tensor, if its format has a tensor scale
  std::uint64_t at_ = 0;
  std::span<const float> left_;  ///< rest of the current piece for next()
  std::uint64_t bytes_;          ///< of the pieces so far, and of the tensor scale
  numerics::ErrorAccumulator error_;
  numerics::QuantizeCounts counts_;
  std::vector<Piece> slots_;
  PieceLine line_;  ///< last member: its threads must end first
};

}  // namespace equarx::inspect
