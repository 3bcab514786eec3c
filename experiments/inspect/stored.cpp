#include "experiments/inspect/stored.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/output/table.hpp"
#include "models/stored/stored_codec.hpp"
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

stored::Shape rows_and_columns(std::span<const std::uint64_t> shape) {
  stored::Shape result{1, shape.back()};
  for (const std::uint64_t size : shape.first(shape.size() - 1)) result.rows *= size;
  return result;
}

StoredReport quantize_stored(const tensors::TensorFile& file, const stored::StoredFormat& format,
                             const std::optional<tensors::TensorFile>& importance,
                             const std::optional<std::filesystem::path>& output) {
  check_importance(file, format, importance);
  const stored::Shape shape = rows_and_columns(file.shape());
  const std::vector<float> values = all_values(file);
  const std::vector<float> weights = importance ? all_values(*importance) : std::vector<float>{};
  const stored::Encoded encoded =
      input::at("/format", [&] { return stored::encode(format, shape, values, weights); });
  const std::vector<float> decoded = stored::decode(format, encoded);
  numerics::ErrorAccumulator error;
  error.add(decoded, std::span<const float>(values));
  if (output)
    tensors::write_npy(*output, file.shape(), [&](std::uint64_t first, std::span<float> piece) {
      std::copy_n(decoded.begin() + static_cast<std::ptrdiff_t>(first), piece.size(),
                  piece.begin());
    });
  return {.shape = {file.shape().begin(), file.shape().end()},
          .error = error.metrics(),
          .bits = stored::stored_bits(format, shape),
          .apart = encoded.apart.size()};
}

std::string to_table(const StoredReport& report) {
  const numerics::ErrorMetrics& error = report.error;
  const auto count = static_cast<double>(error.count);
  const auto each = [&](std::uint64_t bits) {
    return fmt::format("{:.4g}", static_cast<double>(bits) / count);
  };
  const stored::StoredBits& bits = report.bits;
  std::vector<output::TableRow> rows = {
      {"elements", fmt::format("{} ({})", error.count, fmt::join(report.shape, " x "))},
      {"bits per element", each(bits.total())},
      {"- codes", each(bits.codes)}};
  for (const auto& [name, part] :
       {std::pair{"- scales", bits.scales}, std::pair{"- zero points", bits.zero_points},
        std::pair{"- tables", bits.tables}, std::pair{"- values apart", bits.apart},
        std::pair{"- column factors", bits.before}})
    if (part > 0) rows.push_back({name, each(part)});
  if (report.apart > 0)
    rows.push_back({"elements apart",
                    fmt::format("{:.3g} %", 100.0 * static_cast<double>(report.apart) / count)});
  rows.push_back({"MSE", fmt::format("{:.4g}", error.mse)});
  rows.push_back({"NMSE", fmt::format("{:.4g}", error.nmse)});
  rows.push_back({"SQNR", numerics::sqnr_text(error.sqnr_db)});
  rows.push_back({"max abs error", fmt::format("{:.4g}", error.max_abs_error)});
  rows.push_back({"bias (mean error)", fmt::format("{:.4g}", error.mean_signed_error)});
  return output::aligned_table(rows);
}

}  // namespace equarx::inspect
