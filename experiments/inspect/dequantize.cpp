#include "experiments/inspect/dequantize.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/os/threads.hpp"
#include "experiments/inspect/stored.hpp"
#include "experiments/inspect/stored_pieces.hpp"
#include "models/stored/packed_codec.hpp"

namespace equarx::inspect {
namespace {

numerics::ErrorMetrics error_against(const tensors::TensorFile& original,
                                     const stored::Shape& shape, std::span<const float> values) {
  const stored::Shape expected = rows_and_columns(original.shape());
  if (expected.rows != shape.rows || expected.columns != shape.columns)
    throw input::InputError(
        "/original", fmt::format("has shape {}; give the weight's, {} x "
                                 "{}",
                                 fmt::join(original.shape(), " x "), shape.rows, shape.columns));
  std::vector<float> exact(original.elements());
  original.read(0, exact);
  numerics::ErrorAccumulator error;
  error.add(values, std::span<const float>(exact));
  return error.metrics();
}

std::vector<float> decoded(const checkpoints::Stored& read) {
  if (stored::has_kernels(read.format, read.packed.shape))
    return stored::decode_packed(read.format, read.packed, os::default_threads());
  return stored::decode(read.format, stored::unpacked(read.format, read.packed));
}

}  // namespace

Dequantized dequantize(const std::filesystem::path& file, std::optional<checkpoints::Layout> layout,
                       std::optional<std::string_view> weight,
                       const std::optional<tensors::TensorFile>& original,
                       const std::optional<std::filesystem::path>& output) {
  Dequantized result{checkpoints::read_layout(file, layout, weight), {}, std::nullopt};
  const checkpoints::Stored& read = result.tensor.stored;
  result.values = decoded(read);
  if (original) result.error = error_against(*original, read.packed.shape, result.values);
  if (output) write_values(*output, shape_of(result), result.values);
  return result;
}

std::vector<std::uint64_t> shape_of(const Dequantized& dequantized) {
  const stored::Shape& shape = dequantized.tensor.stored.packed.shape;
  return {shape.rows, shape.columns};
}

std::string to_table(const Dequantized& dequantized) {
  const auto& [weight, layout, read] = dequantized.tensor;
  std::vector<output::TableRow> rows = {{"layout", std::string(checkpoints::name(layout))}};
  if (!weight.empty()) rows.push_back({"weight", weight});
  std::ranges::copy(
      bits_rows(shape_of(dequantized), stored::stored_bits(read.format, read.packed.shape)),
      std::back_inserter(rows));
  if (dequantized.error)
    std::ranges::copy(error_rows(*dequantized.error), std::back_inserter(rows));
  return output::aligned_table(rows);
}

}  // namespace equarx::inspect
