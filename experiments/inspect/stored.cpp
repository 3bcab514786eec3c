#include "experiments/inspect/stored.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/os/threads.hpp"
#include "experiments/inspect/stored_pieces.hpp"
#include "models/checkpoints/layout_file.hpp"
#include "models/stored/feedback.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::inspect {

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
    throw input::InputError("/importance", fmt::format("has shape {}; give the tensor's, {}",
                                                       fmt::join(importance->shape(), " x "),
                                                       fmt::join(file.shape(), " x ")));
}

namespace {

/// Inputs of the layer; none without their files.
std::optional<stored::LayerInputs> layer_inputs(const StoredFiles& files,
                                                const stored::StoredFormat& format,
                                                std::size_t columns) {
  for (const auto& [pointer, given] :
       {std::pair{"/inputs", &files.inputs}, std::pair{"/hessian", &files.hessian}})
    if (*given && (*given)->shape().back() != columns)
      throw input::InputError(
          pointer, fmt::format("has rows of {} elements; give rows as long as those of the tensor, "
                               "{}",
                               (*given)->shape().back(), columns));
  if (files.inputs && files.hessian)
    throw input::InputError("/hessian", "is computed from the inputs; give one of both");
  if (files.inputs)
    return input::at("/inputs", [&] {
      return stored::inputs_of_tokens(columns, all_values(*files.inputs), os::default_threads());
    });
  if (files.hessian)
    return input::at(
        "/hessian", [&] { return stored::inputs_of_hessian(columns, all_values(*files.hessian)); });
  if (stored::needs_inputs(format))
    throw input::InputError("/inputs",
                            "the format depends on the inputs of the layer; give a file with a row "
                            "for each token, or its Hessian");
  return std::nullopt;
}

std::string widths_text(std::vector<int> widths) {
  std::ranges::sort(widths);
  std::string text;
  for (auto first = widths.begin(); first != widths.end();) {
    const auto last = std::ranges::find_if(first, widths.end(), [&](int x) { return x != *first; });
    text += fmt::format("{}{} with {} bit{}", text.empty() ? "" : ", ", last - first, *first,
                        *first == 1 ? "" : "s");
    first = last;
  }
  return text;
}

/// A .npy file of decoded values, unless the output has a layout.
std::optional<tensors::NpyFile> values_file(const tensors::TensorFile& file,
                                            const std::optional<StoredOutput>& output) {
  if (!output || output->layout) return std::nullopt;
  return std::optional<tensors::NpyFile>(std::in_place, output->file, tensors::FileType::fp32,
                                         file.shape());
}

}  // namespace

StoredReport quantize_stored(const tensors::TensorFile& file, const stored::StoredFormat& given,
                             const StoredFiles& files, const std::optional<StoredOutput>& output,
                             const std::function<void(double)>& share) {
  check_importance(file, given, files.importance);
  const bool keeps_codes = output && output->layout;
  const stored::Shape shape = rows_and_columns(file.shape());
  if (keeps_codes)
    input::at("/layout", [&] { checkpoints::check_layout(*output->layout, given, shape); });
  const std::optional<stored::LayerInputs> inputs = layer_inputs(files, given, shape.columns);
  const stored::StoredFormat format = input::at("/format", [&] {
    return inputs ? stored::adapted(given, shape, all_values(file), *inputs, os::default_threads())
                  : given;
  });
  std::optional<tensors::NpyFile> decoded = values_file(file, output);
  const auto sink = [&](std::uint64_t first, std::span<const float> values) {
    if (decoded)
      std::ranges::copy(std::as_bytes(values),
                        decoded->data().subspan(first * sizeof(float)).begin());
  };
  const Rounded rounded = input::at("/format", [&] {
    return round_tensor(
        file, format, files.importance, sink,
        {.keep_codes = keeps_codes, .inputs = inputs ? &*inputs : nullptr, .share = share});
  });
  if (keeps_codes)
    input::at("/layout", [&] {
      checkpoints::write_layout(output->file, *output->layout, output->weight, format,
                                rounded.packed);
    });
  if (decoded) decoded->keep();
  return {.shape = {file.shape().begin(), file.shape().end()},
          .error = rounded.error,
          .bits = stored::stored_bits(format, shape),
          .apart = rounded.apart,
          .output_error = rounded.output_error,
          .widths = format.widths.bits};
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
        std::pair{"- column factors", bits.before}, std::pair{"- widths", bits.widths}})
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
  if (!report.widths.empty()) rows.push_back({"groups of columns", widths_text(report.widths)});
  std::ranges::copy(error_rows(report.error), std::back_inserter(rows));
  if (report.output_error)
    rows.push_back({"NMSE of outputs", fmt::format("{:.4g}", *report.output_error)});
  return output::aligned_table(rows);
}

}  // namespace equarx::inspect
