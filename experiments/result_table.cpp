#include "experiments/result_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/result_json.hpp"
#include "experiments/topology_plan.hpp"
#include "models/units/quantity.hpp"

namespace equarx::experiments {
namespace {

std::string time_text(double seconds) {
  return units::format_short(seconds, units::Dimension::time);
}

std::string size_text(double bytes) { return units::format_short(bytes, units::Dimension::bytes); }

std::string tensor_text(const TensorConfig& tensor) {
  const std::string size = size_text(static_cast<double>(tensor.bytes()));
  if (tensor.shape.empty()) return fmt::format("{} of {}", size, numerics::name(tensor.dtype));
  return fmt::format("{} {} ({})", fmt::join(tensor.shape, " x "), numerics::name(tensor.dtype),
                     size);
}

std::vector<std::string> headings(bool numerics) {
  std::vector<std::string> row = {"collective", "time", "speedup", "lower bound", "bytes/link"};
  if (numerics) row.insert(row.end(), {"MSE", "SQNR", "MSE vs baseline", "ranks"});
  return row;
}

TableRow row_of(const RunResult& run) {
  TableRow row = {run.label, time_text(run.time_s), fmt::format("{:.3f}x", run.speedup),
                  time_text(run.lower_bound_s),
                  size_text(static_cast<double>(run.wire_bytes_per_link))};
  if (run.numerics) {
    row.push_back(fmt::format("{:.3g}", run.numerics->against_exact.mse));
    row.push_back(fmt::format("{:.2f} dB", run.numerics->against_exact.sqnr_db));
    row.push_back(fmt::format("{:.3g}", run.numerics->against_baseline.value().mse));
    row.push_back(run.numerics->ranks_identical ? "identical" : "differ");
  }
  return row;
}

std::string values_note(const values::ValueResult& values) {
  const std::string what =
      values.sampled_fraction == 1.0
          ? "every element"
          : fmt::format("{:.3g} % of the elements", 100.0 * values.sampled_fraction);
  return fmt::format("  MSE, SQNR: computed on {}, against the exact sum of all ranks.\n", what);
}

}  // namespace

std::string aligned_table(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const TableRow& row : rows) {
    text += fmt::format("  {:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string to_table(const ExperimentResult& result) {
  const ExperimentConfig& config = result.config;
  std::vector<TableRow> rows = {headings(config.numerics)};
  for (const RunResult& run : result.runs) rows.push_back(row_of(run));
  std::string text =
      fmt::format("AllReduce of {} on each of {} x {}, {}\n\n", tensor_text(config.tensor),
                  result.runs.front().chips, config.chip.name, topology_text(config.topology));
  text += aligned_table(rows);
  text += fmt::format(
      "\n  time: simulated ({}). lower bound: bytes of the busiest link direction / its "
      "bandwidth.\n",
      result.runs.front().symmetric ? "on representative chips" : "every chip");
  if (config.numerics) text += values_note(*result.runs.front().numerics);
  return text;
}

}  // namespace equarx::experiments
