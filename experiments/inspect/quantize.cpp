#include "experiments/inspect/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "experiments/config/format_json.hpp"
#include "experiments/inspect/quantizer.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::inspect {
namespace {

bool names_plain(input::ObjectReader& reader) {
  const std::string wanted = reader.has("format") ? reader.text("format") : "";
  return std::ranges::any_of(numerics::named_formats(), [&](const numerics::NamedFormat& named) {
    return named.name == wanted && !named.format.scaled;
  });
}

config::NamedBlockFormat read_plain(input::ObjectReader& reader) {
  config::NamedBlockFormat format =
      config::read_plain_format(reader, numerics::ElementFormat::fp32, false);
  if (numerics::has_shared_scale(format))
    throw input::InputError(
        reader.pointer_to("format"),
        fmt::format("'{}' has one scale shared by all ranks; `run` a collective with it",
                    format.name));
  for (const std::string_view key :
       {"scale", "scale_rounding", "layout", "block", "elements_per_scale"})
    reader.reject(key, fmt::format("{} has no scales; remove it", format.name));
  return format;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "0 %"
                    : fmt::format("{:.3g} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

QuantizeOptions read_quantize_options(const input::Json& json) {
  constexpr std::uint64_t kMost = 1 << 20;
  input::ObjectReader reader(json, "");
  QuantizeOptions options;
  const config::NamedBlockFormat format =
      names_plain(reader) ? read_plain(reader) : config::read_scaled_format(reader);
  options.format = format;
  if (format.layout != numerics::ScaleLayout::strided)
    reader.reject("elements_per_scale",
                  "is for the strided layout; a contiguous one has \"block\"; remove it");
  if (reader.has("elements_per_scale"))
    options.elements_per_scale =
        static_cast<std::uint32_t>(reader.integer("elements_per_scale", 1, kMost));
  reader.finish();
  return options;
}

QuantizeReport quantize_file(const tensors::TensorFile& file, const QuantizeOptions& options,
                             const std::optional<std::filesystem::path>& output) {
  const auto read = [&](std::uint64_t first, std::span<float> values) { file.read(first, values); };
  Quantizer quantizer({file.elements(), read}, options);
  if (output)
    tensors::write_npy(*output, file.shape(),
                       [&](std::uint64_t, std::span<float> values) { quantizer.next(values); });
  while (!quantizer.at_end()) quantizer.advance();
  QuantizeReport report = quantizer.report();
  report.shape.assign(file.shape().begin(), file.shape().end());
  return report;
}

std::string to_table(const QuantizeReport& report) {
  const numerics::ErrorMetrics& error = report.error;
  const auto number = [](double value, std::string_view format = "{:.4g}") {
    return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string("-");
  };
  const std::vector<output::TableRow> rows = {
      {"elements", fmt::format("{} ({})", error.count, fmt::join(report.shape, " x "))},
      {"bits per element", fmt::format("{:.4g}", report.bits_per_element)},
      {"MSE", number(error.mse)},
      {"NMSE", number(error.nmse)},
      {"SQNR", numerics::sqnr_text(error.sqnr_db)},
      {"max abs error", number(error.max_abs_error)},
      {"bias (mean error)", number(error.mean_signed_error)},
      {"cosine similarity", number(error.cosine_similarity, "{:.8f}")},
      {"clipped", percent(report.counts.clipped, report.counts.elements)},
      {"flushed to zero", percent(report.counts.flushed, report.counts.elements)},
      {"NaN or Inf", fmt::format("{}", report.counts.non_finite)}};
  return output::aligned_table(rows);
}

}  // namespace equarx::inspect
