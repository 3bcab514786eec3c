#include "experiments/inspect/product.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/threads.hpp"
#include "base/output/table.hpp"
#include "experiments/inspect/stored.hpp"
#include "experiments/inspect/stored_pieces.hpp"
#include "models/gemm/matmul.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::inspect {
namespace {

double bits_per_element(const std::optional<stored::StoredFormat>& format,
                        const stored::Shape& shape) {
  if (!format) return 0.0;
  return static_cast<double>(stored::stored_bits(*format, shape).total()) /
         static_cast<double>(shape.elements());
}

void write_product(const ProductFiles& files, const ProductReport& report,
                   std::span<const float> product) {
  if (!files.output) return;
  std::vector<std::uint64_t> shape(files.x.shape().begin(), files.x.shape().end());
  shape.back() = report.outputs;
  write_values(*files.output, shape, product);
}

}  // namespace

ProductReport multiply(const ProductFiles& files, const gemm::Scheme& scheme) {
  check_importance(files.w, scheme.weights.value_or(stored::StoredFormat{}), files.importance);
  const std::vector<float> x = all_values(files.x);
  const std::vector<float> w = all_values(files.w);
  const std::vector<float> importance =
      files.importance ? all_values(*files.importance) : std::vector<float>{};
  const gemm::Matrix activations{rows_and_columns(files.x.shape()), x};
  const gemm::Matrix weights{rows_and_columns(files.w.shape()), w, importance};
  const unsigned threads = os::default_threads();
  const std::vector<float> product =
      input::at("", [&] { return gemm::matmul(scheme, activations, weights, threads); });
  const std::vector<double> exact = gemm::exact_matmul(activations, weights, threads);
  ProductReport report{.tokens = activations.shape.rows,
                       .inputs = activations.shape.columns,
                       .outputs = weights.shape.rows,
                       .weight_bits = bits_per_element(scheme.weights, weights.shape),
                       .activation_bits = bits_per_element(scheme.activations, activations.shape)};
  numerics::ErrorAccumulator error;
  error.add(product, std::span<const double>(exact));
  report.error = error.metrics();
  write_product(files, report, product);
  return report;
}

std::string to_table(const ProductReport& report) {
  const numerics::ErrorMetrics& error = report.error;
  const auto number = [](double value) { return fmt::format("{:.4g}", value); };
  std::vector<output::TableRow> rows = {
      {"tokens x inputs x outputs",
       fmt::format("{} x {} x {}", report.tokens, report.inputs, report.outputs)}};
  if (report.weight_bits > 0.0) rows.push_back({"bits per weight", number(report.weight_bits)});
  if (report.activation_bits > 0.0)
    rows.push_back({"bits per activation", number(report.activation_bits)});
  rows.push_back({"NMSE", number(error.nmse)});
  rows.push_back({"SQNR", numerics::sqnr_text(error.sqnr_db)});
  rows.push_back({"max abs error", number(error.max_abs_error)});
  rows.push_back({"bias (mean error)", number(error.mean_signed_error)});
  return output::aligned_table(rows);
}

input::Json to_json(const ProductReport& report) {
  return {{"tokens", report.tokens},
          {"inputs", report.inputs},
          {"outputs", report.outputs},
          {"weight_bits", report.weight_bits},
          {"activation_bits", report.activation_bits},
          {"nmse", report.error.nmse},
          {"sqnr_db", report.error.sqnr_db},
          {"max_abs_error", report.error.max_abs_error},
          {"mean_signed_error", report.error.mean_signed_error}};
}

}  // namespace equarx::inspect
