#include "experiments/result/table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/nearest.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/result/json.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "experiments/variation/report.hpp"

namespace equarx::result {
namespace {

/// Rows of pairs, sent and received: "0 to 88 rows of 7168 bf16 per pair, 4096 rows sent per chip".
std::string rows_text(const config::TensorConfig& tensor) {
  const std::vector<std::uint32_t>& rows = tensor.counts->counts.rows;
  const auto ranks = static_cast<std::size_t>(std::llround(std::sqrt(rows.size())));
  const double sent = std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(ranks);
  const double bytes = sent * static_cast<double>(tensor.counts->counts.row_elements) *
                       static_cast<double>(numerics::element_bits(tensor.dtype)) / 8.0;
  std::string text =
      fmt::format("{} to {} rows of {} {} per pair, {:.0f} per chip ({}; mean)",
                  std::ranges::min(rows), std::ranges::max(rows), fmt::join(tensor.shape, " x "),
                  numerics::name(tensor.dtype), sent, units::bytes_text(bytes));
  if (tensor.counts->file.empty()) {
    text += fmt::format(", busiest experts {:.2f} of the mean", tensor.counts->imbalance);
    if (tensor.counts->dropped > 0.0)
      text += fmt::format(", {:.1f} % dropped", 100.0 * tensor.counts->dropped);
  }
  return text;
}

std::string tensor_text(const config::TensorConfig& tensor) {
  if (tensor.counts) return rows_text(tensor);
  const std::string size = units::bytes_text(static_cast<double>(tensor.bytes()));
  if (tensor.shape.empty()) return fmt::format("{} of {}", size, numerics::name(tensor.dtype));
  return fmt::format("{} {} ({})", fmt::join(tensor.shape, " x "), numerics::name(tensor.dtype),
                     size);
}

output::TableRow headings(bool numerics, bool uncertain) {
  output::TableRow row = {"collective", "time"};
  if (uncertain) row.emplace_back("68 % interval");
  row.emplace_back("speedup");
  if (uncertain) row.emplace_back("68 % interval");
  row.insert(row.end(), {"lower bound", "bytes/link"});
  if (numerics) row.insert(row.end(), {"MSE", "SQNR", "MSE vs baseline", "ranks"});
  return row;
}

/// Columns that make way for others in a table that is too wide; the least important first.
const std::vector<std::string>& optional_headings() {
  static const std::vector<std::string> headings = {"MSE vs baseline", "bytes/link", "MSE"};
  return headings;
}

/// A mean squared error; "-" if there is none.
std::string error_text(double mse) { return std::isfinite(mse) ? fmt::format("{:.3g}", mse) : "-"; }

output::TableRow row_of(const run::RunResult& run, bool uncertain) {
  output::TableRow row = {run.label, run.failure ? "fails" : units::time_text(run.time_s)};
  if (uncertain) row.push_back(variation::time_text(*run.uncertainty));
  row.push_back(run.speedup ? fmt::format("{:.3f}x", *run.speedup) : "-");
  if (uncertain) row.push_back(variation::speedup_text(*run.uncertainty));
  row.push_back(units::time_text(run.lower_bound_s));
  row.push_back(units::bytes_text(static_cast<double>(run.wire_bytes_per_link)));
  if (!run.numerics) return row;
  row.push_back(error_text(run.numerics->against_exact.mse));
  row.push_back(numerics::sqnr_text(run.numerics->against_exact.sqnr_db));
  row.push_back(error_text(run.numerics->against_baseline.value().mse));
  row.push_back(run.numerics->ranks_identical ? "identical" : "differ");
  return row;
}

std::string title(const run::ExperimentResult& result) {
  const config::ExperimentConfig& config = result.config;
  return fmt::format("{} of {} on each of {} x {}, {}\n\n", collectives::name(config.collective),
                     tensor_text(config.tensor), result.runs.front().chips, config.chip.name,
                     config::topology_text(config.topology));
}

std::string failure_note(const run::RunResult& run) {
  const run::FailureReport& failure = *run.failure;
  return fmt::format(
      "  {} fails at {}: {} from {} to {} did not arrive, because link {} is down.\n", run.label,
      units::time_text(failure.time_s), failure.transfer, failure.from, failure.to, failure.link);
}

/// "ring", "ring, protocol ll128"
std::string scheme_text(config::Algorithm algorithm, hardware::Protocol protocol) {
  const std::string name{config::algorithm_name(algorithm)};
  if (protocol == hardware::Protocol::none) return name;
  return fmt::format("{}, protocol {}", name, hardware::name(protocol));
}

/// The algorithm selected by `auto`, and with `verbose` the time of each candidate.
std::string candidates_note(const run::RunResult& run, bool verbose) {
  std::string text = fmt::format(
      "  {}: auto selected {}, {}{}\n", run.label, scheme_text(run.algorithm, run.protocol),
      run.failure ? "although it fails, as do all others" : "the fastest that can run",
      verbose ? ":" : ".");
  if (!verbose) return text;
  for (const run::Candidate& candidate : run.candidates)
    text += fmt::format("    {:<18}  {}\n", scheme_text(candidate.algorithm, candidate.protocol),
                        candidate.time_s ? units::time_text(*candidate.time_s) : candidate.note);
  return text;
}

/// Utilisation of the busiest link directions, with their names unless all are equally busy.
std::string busiest_text(const run::RunResult& run) {
  constexpr std::size_t kNamed = 2;
  const auto percent = [&](const run::LinkUse& link) {
    return std::lround(100.0 * link.utilisation(run.time_s));
  };
  const auto [least, most] = std::ranges::minmax(run.links, {}, percent);
  if (percent(least) == percent(most)) return fmt::format("{} %, all equal", percent(most));
  std::vector<std::string_view> names;
  for (const run::LinkUse& link : run.links)
    if (percent(link) == percent(most)) names.push_back(link.name);
  return fmt::format("{} %: {} of {}; least busy {} %", percent(most),
                     input::list_of(names, kNamed), run.links.size(), percent(least));
}

std::string busiest_note(const std::vector<run::RunResult>& runs) {
  std::vector<output::TableRow> rows;
  for (const run::RunResult& run : runs)
    if (!run.failure) rows.push_back({"  " + run.label, busiest_text(run)});
  if (rows.empty()) return {};
  std::size_t width = 0;
  for (const output::TableRow& row : rows) width = std::max(width, row[0].size());
  std::string text = "  Busiest link directions, by utilisation:\n";
  for (const output::TableRow& row : rows)
    text += fmt::format("  {:<{}}  {}\n", row[0], width, row[1]);
  return text;
}

/// Utilisation of the busiest HBM; empty if transfers do not use HBM.
std::string hbm_note(const std::vector<run::RunResult>& runs) {
  std::vector<std::string> shares;
  for (const run::RunResult& run : runs)
    if (run.hbm_busy_share && !run.failure)
      shares.push_back(fmt::format("{} {:.0f} %", run.label, 100.0 * *run.hbm_busy_share));
  if (shares.empty()) return {};
  return fmt::format("  Busiest HBM, shared by DMAs and cores: {}.\n", fmt::join(shares, ", "));
}

/// True if full queues block cores from sending while links are mostly idle. With busy links a full
/// queue is a mere consequence.
bool stalls(const run::RunResult& run) {
  constexpr double kQueueShare = 0.1;
  constexpr double kBusyLink = 0.75;
  if (run.failure || run.core.waits.queue_s < kQueueShare * run.time_s) return false;
  return std::ranges::all_of(run.links, [&](const run::LinkUse& link) {
    return link.utilisation(run.time_s) < kBusyLink;
  });
}

std::string stall_note(const std::vector<run::RunResult>& runs) {
  std::vector<std::string> shares;
  for (const run::RunResult& run : runs)
    if (stalls(run))
      shares.push_back(
          fmt::format("{} {:.0f} %", run.label, 100.0 * run.core.waits.queue_s / run.time_s));
  if (shares.empty()) return {};
  return fmt::format(
      "  Warning: cores block on the full queue to one neighbour (dma_queue) while other links "
      "idle: {} of the time.\n",
      fmt::join(shares, ", "));
}

/// Names the formats with so few elements per scale that scales dominate the traffic, which alone
/// makes their errors small.
std::string scales_note(const std::vector<run::RunResult>& runs) {
  std::vector<std::string> few;
  for (const run::RunResult& run : runs)
    if (run.breakdown.scales_s > run.breakdown.payload_s && run.elements_per_scale)
      few.push_back(fmt::format("{} {:.3g}", run.label, *run.elements_per_scale));
  if (few.empty()) return {};
  return fmt::format(
      "  Warning: few elements per scale ({}), as the tensor is small; scales dominate the link "
      "time.\n",
      fmt::join(few, ", "));
}

/// Definition of the lower bound.
std::string bound_note(const config::ExperimentConfig& config) {
  const std::string_view resource = config.wire_buffers == collectives::WireBuffers::hbm
                                        ? "link direction or HBM"
                                        : "link direction";
  return fmt::format("  Lower bound: bytes / bandwidth of the busiest {}.\n", resource);
}

/// Describes each collective; equal lines are merged, and name their collectives unless they hold
/// for all.
std::string note_of_each(const std::vector<run::RunResult>& runs,
                         const std::function<std::string(const run::RunResult&)>& describe) {
  std::string text;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    const std::string line = describe(*run);
    const auto same = [&](const run::RunResult& other) { return describe(other) == line; };
    if (std::find_if(runs.begin(), run, same) != run) continue;
    std::vector<std::string> labels;
    for (const run::RunResult& other : runs)
      if (same(other)) labels.push_back(other.label);
    text += labels.size() == runs.size()
                ? fmt::format("  {}.\n", line)
                : fmt::format("  {}: {}.\n", line, fmt::join(labels, ", "));
  }
  return text;
}

/// Simulated chips and engine of each collective, with the reasons.
std::string simulation_note(const std::vector<run::RunResult>& runs) {
  const auto chips = [](const run::RunResult& run) {
    return run.symmetric ? fmt::format("Exploiting symmetry: {}", run.simulation_reason)
                         : fmt::format("All chips simulated ({})", run.simulation_reason);
  };
  const auto engine = [](const run::RunResult& run) {
    return fmt::format("Engine: {} ({})", run.engine == sim::Engine::simgrid ? "SimGrid" : "direct",
                       run.engine_reason);
  };
  return note_of_each(runs, chips) + note_of_each(runs, engine);
}

/// Tiling of the collectives' chunks, and how it was chosen.
std::string tiling_note(const std::vector<run::RunResult>& runs) {
  return note_of_each(runs, [](const run::RunResult& run) {
    const std::string parts = run.cut ? fmt::format("minishards {}, microshards {}",
                                                    run.cut->minishards, run.cut->microshards)
                                      : "varies with the size of chunks";
    return fmt::format("Tiling: {} ({})", parts, run.cut_reason);
  });
}

/// Reference of the errors.
std::string values_note(const values::ValueResult& values) {
  const std::string elements =
      values.sampled_fraction == 1.0
          ? "every element"
          : fmt::format("{:.3g} % of the elements", 100.0 * values.sampled_fraction);
  return fmt::format("  MSE, SQNR: {}, against the exact sum of all ranks.\n", elements);
}

/// Elements without an error, because they or their exact values are NaN or Inf.
std::string nonfinite_note(const run::ExperimentResult& result) {
  std::string text;
  for (const std::string& input : values::texts_of(result.nonfinite_inputs))
    text += fmt::format("  Warning: {}.\n", input);
  for (const run::RunResult& run : result.runs) {
    const numerics::ErrorMetrics& errors = run.numerics->against_exact;
    if (errors.nonfinite > 0)
      text += fmt::format(
          "  Warning: {}: {} of {} elements are NaN or Inf in the result or the exact sum; MSE and "
          "SQNR leave them out.\n",
          run.label, errors.nonfinite, errors.count);
  }
  return text;
}

/// The table and how wide it may be.
std::string runs_table(const run::ExperimentResult& result, bool verbose) {
  const bool uncertain = result.runs.front().uncertainty.has_value();
  std::vector<output::TableRow> rows = {headings(result.config.numerics, uncertain)};
  for (const run::RunResult& run : result.runs) rows.push_back(row_of(run, uncertain));
  if (!verbose) {
    // All ranks end with the same bits, or the run had ended with an error (check_values()).
    if (result.config.numerics)
      for (output::TableRow& row : rows) row.pop_back();
    output::fit_width(rows, optional_headings());
  }
  return output::aligned_table(rows);
}

/// Details that no decision depends on.
std::string details(const run::ExperimentResult& result) {
  return tiling_note(result.runs) + simulation_note(result.runs) + busiest_note(result.runs) +
         hbm_note(result.runs);
}

}  // namespace

std::string to_table(const run::ExperimentResult& result, const TableOptions& options) {
  const config::ExperimentConfig& config = result.config;
  std::string text = title(result) + runs_table(result, options.verbose) + '\n';
  for (const run::RunResult& run : result.runs)
    if (run.failure) text += failure_note(run);
  const auto ring_fails = [](const run::RunResult& run) {
    return run.failure && run.algorithm != nullptr &&
           run.algorithm->layout == collectives::RankLayout::ring;
  };
  if (std::ranges::any_of(result.runs, ring_fails))
    text += "  A ring can be planned around a link: name it in /topology/avoid.\n";
  for (const run::RunResult& run : result.runs)
    if (!run.candidates.empty()) text += candidates_note(run, options.verbose);
  text += bound_note(config);
  if (options.verbose) text += details(result);
  text += stall_note(result.runs);
  text += scales_note(result.runs);
  text += variation::trust_note(variation::asked_of(config), config::parameters_of(config),
                                config.uncertainty.samples, result.runs.front().uncertainty);
  if (config.numerics) text += values_note(*result.runs.front().numerics) + nonfinite_note(result);
  text += variation::sensitivity_table(result.sensitivities, result.labels(), config.baseline);
  return text;
}

}  // namespace equarx::result
