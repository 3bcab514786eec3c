#include "experiments/inspect/stored_pieces.hpp"

#include <algorithm>
#include <vector>

#include "base/os/threads.hpp"
#include "models/stored/code_bits.hpp"
#include "models/stored/feedback.hpp"

namespace equarx::inspect {
namespace {

using stored::Along;
using stored::StoredFormat;

/// Elements that end a group, and a byte of codes; 0: only the whole tensor does.
std::size_t piece_unit(const StoredFormat& format, const stored::Shape& shape) {
  if (!stored::has_kernels(format, shape) || format.scale.of_tensor) return 0;
  return format.groups.along == Along::row ? shape.columns : format.groups.length;
}

void append(const stored::Packed& piece, stored::Packed& all) {
  all.codes.insert(all.codes.end(), piece.codes.begin(), piece.codes.end());
  all.scales.insert(all.scales.end(), piece.scales.begin(), piece.scales.end());
  all.zero_points.insert(all.zero_points.end(), piece.zero_points.begin(), piece.zero_points.end());
}

Rounded round_pieces(const tensors::TensorFile& file, const StoredFormat& format, std::size_t unit,
                     const PieceSink& sink, const RoundOptions& options) {
  const stored::Shape shape = rows_and_columns(file.shape());
  const unsigned threads = os::default_threads();
  const std::size_t most = std::max(unit, options.piece_elements / unit * unit);
  Rounded rounded;
  rounded.packed.shape = shape;
  if (options.keep_codes)
    rounded.packed.codes.reserve(stored::packed_bytes(format.elements.bits, shape.elements()));
  numerics::ErrorAccumulator error;
  stored::Packed packed;
  std::vector<float> values;
  std::vector<float> decoded;
  for (std::size_t first = 0; first < shape.elements(); first += most) {
    values.resize(std::min(most, shape.elements() - first));
    decoded.resize(values.size());
    file.read(first, values);
    const bool rows = format.groups.along == Along::row;
    const std::size_t columns = rows ? shape.columns : values.size();
    stored::encode_packed(format, {values.size() / columns, columns}, values, packed, threads,
                          first);
    stored::decode_packed(format, packed, decoded, threads);
    error.add(decoded, std::span<const float>(values));
    sink(first, decoded);
    if (options.keep_codes) append(packed, rounded.packed);
    if (options.share)
      options.share(static_cast<double>(first + values.size()) /
                    static_cast<double>(shape.elements()));
  }
  rounded.error = error.metrics();
  return rounded;
}

stored::Encoded encoded_by(const StoredFormat& format, const stored::Shape& shape,
                           std::span<const float> values, std::span<const float> importance,
                           const stored::LayerInputs* inputs) {
  const unsigned threads = os::default_threads();
  if (inputs != nullptr) return stored::encode(format, shape, values, *inputs, importance, threads);
  return stored::encode(format, shape, values, importance, threads);
}

Rounded round_whole(const tensors::TensorFile& file, const StoredFormat& format,
                    const std::optional<tensors::TensorFile>& importance, const PieceSink& sink,
                    const RoundOptions& options) {
  const std::vector<float> values = all_values(file);
  const std::vector<float> weights = importance ? all_values(*importance) : std::vector<float>{};
  const stored::Encoded encoded =
      encoded_by(format, rows_and_columns(file.shape()), values, weights, options.inputs);
  const std::vector<float> decoded = stored::decode(format, encoded, os::default_threads());
  Rounded rounded{.apart = encoded.apart.size()};
  numerics::ErrorAccumulator error;
  error.add(decoded, std::span<const float>(values));
  rounded.error = error.metrics();
  if (options.inputs != nullptr)
    rounded.output_error =
        stored::output_error(*options.inputs, values, decoded, os::default_threads());
  sink(0, decoded);
  if (options.keep_codes) rounded.packed = stored::packed(format, encoded);
  return rounded;
}

}  // namespace

std::vector<float> all_values(const tensors::TensorFile& file) {
  std::vector<float> values(file.elements());
  file.read(0, values);
  return values;
}

stored::Shape rows_and_columns(std::span<const std::uint64_t> shape) {
  stored::Shape result{1, static_cast<std::size_t>(shape.back())};
  for (const std::uint64_t size : shape.first(shape.size() - 1)) result.rows *= size;
  return result;
}

Rounded round_tensor(const tensors::TensorFile& file, const StoredFormat& format,
                     const std::optional<tensors::TensorFile>& importance, const PieceSink& sink,
                     const RoundOptions& options) {
  stored::check(format);
  const std::size_t unit = piece_unit(format, rows_and_columns(file.shape()));
  if (unit == 0 || options.inputs != nullptr)
    return round_whole(file, format, importance, sink, options);
  return round_pieces(file, format, unit, sink, options);
}

}  // namespace equarx::inspect
