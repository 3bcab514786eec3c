#include "experiments/inspect/stored.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "models/checkpoints/layout_file.hpp"
#include "models/stored/packed_codec.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::inspect {

std::vector<float> all_values(const tensors::TensorFile& file) {
  std::vector<float> values(file.elements());
  file.read(0, values);
  return values;
}

void check_importance(const tensors::TensorFile& file, const stored::StoredFormat& format,
                      const std::optional<tensors::TensorFile>& importance) {
  const bool needed = stored::needs_importance(format);
  if (needed && !importance)
    throw input::InputError("/importance",
                            "the format depends on it; give a file of the tensor's shape, such as "
                            "squared gradients");
  if (!needed && importance)
    throw input::InputError("/importance", "the format does not depend on it; remove it");
  if (importance && !std::ranges::equal(importance->shape(), file.shape()))
    throw input::InputError("/importance", fmt::format("has shape {}; give that of the tensor, {}",
                                                       fmt::join(importance->shape(), " x "),
                                                       fmt::join(file.shape(), " x ")));
}

namespace {

/// Codes without values apart, and decoded values.
struct Rounded {
  stored::Packed packed;
  std::vector<float> values;
  std::uint64_t apart = 0;
};

Rounded rounded_by(const stored::StoredFormat& format, const stored::Shape& shape,
                   std::span<const float> values, std::span<const float> importance) {
  const unsigned threads = std::thread::hardware_concurrency();
  if (stored::has_kernels(format, shape)) {
    stored::Packed packed = stored::encode_packed(format, shape, values, threads);
    std::vector<float> decoded = stored::decode_packed(format, packed, threads);
    return {std::move(packed), std::move(decoded)};
  }
  const stored::Encoded encoded = stored::encode(format, shape, values, importance);
  return {stored::packed(format, encoded), stored::decode(format, encoded), encoded.apart.size()};
}

}  // namespace

stored::Shape rows_and_columns(std::span<const std::uint64_t> shape) {
  stored::Shape result{1, shape.back()};
  for (const std::uint64_t size : shape.first(shape.size() - 1)) result.rows *= size;
  return result;
}

StoredReport quantize_stored(const tensors::TensorFile& file, const stored::StoredFormat& format,
                             const std::optional<tensors::TensorFile>& importance,
                             const std::optional<StoredOutput>& output) {
  check_importance(file, format, importance);
  const stored::Shape shape = rows_and_columns(file.shape());
  if (output && output->layout)
    input::at("/layout", [&] { checkpoints::check_layout(*output->layout, format, shape); });
  const std::vector<float> values = all_values(file);
  const std::vector<float> weights = importance ? all_values(*importance) : std::vector<float>{};
  const Rounded rounded =
      input::at("/format", [&] { return rounded_by(format, shape, values, weights); });
  numerics::ErrorAccumulator error;
  error.add(rounded.values, std::span<const float>(values));
  if (output && output->layout)
    input::at("/layout", [&] {
      checkpoints::write_layout(output->file, *output->layout, output->weight, format,
                                rounded.packed);
    });
  if (output && !output->layout) write_values(output->file, file.shape(), rounded.values);
  return {.shape = {file.shape().begin(), file.shape().end()},
          .error = error.metrics(),
          .bits = stored::stored_bits(format, shape),
          .apart = rounded.apart};
}

void write_values(const std::filesystem::path& file, std::span<const std::uint64_t> shape,
                  std::span<const float> values) {
  tensors::write_npy(file, shape, [&](std::uint64_t first, std::span<float> piece) {
    std::ranges::copy(values.subspan(first, piece.size()), piece.begin());
  });
}

std::vector<output::TableRow> bits_rows(std::span<const std::uint64_t> shape,
                                        const stored::StoredBits& bits) {
  const std::uint64_t count =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies());
  const auto each = [&](std::uint64_t part) {
    return fmt::format("{:.4g}", static_cast<double>(part) / static_cast<double>(count));
  };
  std::vector<output::TableRow> rows = {
      {"elements", fmt::format("{} ({})", count, fmt::join(shape, " x "))},
      {"bits per element", each(bits.total())},
      {"- codes", each(bits.codes)}};
  for (const auto& [name, part] :
       {std::pair{"- scales", bits.scales}, std::pair{"- zero points", bits.zero_points},
        std::pair{"- tables", bits.tables}, std::pair{"- values apart", bits.apart},
        std::pair{"- column factors", bits.before}})
    if (part > 0) rows.push_back({name, each(part)});
  return rows;
}

std::vector<output::TableRow> error_rows(const numerics::ErrorMetrics& error) {
  return {{"MSE", fmt::format("{:.4g}", error.mse)},
          {"NMSE", fmt::format("{:.4g}", error.nmse)},
          {"SQNR", numerics::sqnr_text(error.sqnr_db)},
          {"max abs error", fmt::format("{:.4g}", error.max_abs_error)},
          {"bias (mean error)", fmt::format("{:.4g}", error.mean_signed_error)}};
}

std::string to_table(const StoredReport& report) {
  std::vector<output::TableRow> rows = bits_rows(report.shape, report.bits);
  const auto count = static_cast<double>(report.error.count);
  if (report.apart > 0)
    rows.push_back({"elements apart",
                    fmt::format("{:.3g} %", 100.0 * static_cast<double>(report.apart) / count)});
  std::ranges::copy(error_rows(report.error), std::back_inserter(rows));
  return output::aligned_table(rows);
}

}  // namespace equarx::inspect
