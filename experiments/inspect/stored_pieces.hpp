// Encoding and decoding of a tensor file in pieces, for files larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "models/numerics/errors/metrics.hpp"
#include "models/stored/layer_inputs.hpp"
#include "models/stored/packed_codec.hpp"
#include "models/tensors/tensor_file.hpp"

namespace equarx::inspect {

/// Elements of a piece, at least: 64 MiB of FP32.
inline constexpr std::size_t kPieceElements = std::size_t{1} << 24;

/// Handles a decoded piece that begins at element `first`.
using PieceSink = std::function<void(std::uint64_t first, std::span<const float> decoded)>;

/// Options of round_tensor().
struct RoundOptions {
  bool keep_codes = false;
  std::size_t piece_elements = kPieceElements;
  /// Inputs of the layer, for formats that depend on them and for the error of outputs; null: none.
  const stored::LayerInputs* inputs = nullptr;
  std::function<void(double)> share = {};  ///< called with the completed fraction
};

/// A tensor after rounding.
struct Rounded {
  stored::Packed packed = {};  ///< empty unless codes are kept
  numerics::ErrorMetrics error = {};
  std::uint64_t apart = 0;
  std::optional<double> output_error = {};  ///< of the layer, with its inputs
};

/// Encodes and decodes a tensor, and passes decoded values to `sink` in order. Formats that have
/// kernels, and no scale of the tensor or group of the whole tensor, need memory for two pieces and
/// the codes kept; others for the whole tensor. Errors and codes do not depend on the pieces.
/// @throws std::invalid_argument as stored::encode()
Rounded round_tensor(const tensors::TensorFile& file, const stored::StoredFormat& format,
                     const std::optional<tensors::TensorFile>& importance, const PieceSink& sink,
                     const RoundOptions& options);

/// All values of a file, in FP32.
std::vector<float> all_values(const tensors::TensorFile& file);

/// The last dimension is the columns, all others are rows.
stored::Shape rows_and_columns(std::span<const std::uint64_t> shape);

}  // namespace equarx::inspect
