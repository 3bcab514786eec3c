#include "experiments/study/report.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/workload_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/output/csv.hpp"
#include "experiments/output/files.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/output/table.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "models/units/quantity.hpp"

namespace equarx::study {
namespace {

using Fields = output::CsvRow;

std::string_view verdict(const StudyOutcome& outcome) {
  return outcome.within_tolerance() ? "yes" : "NO";
}

/// A figure for people, in its unit: only times have one.
std::string figure_text(const StudyRow& row, double value) {
  if (row.metric.ends_with("_s")) return units::format_short(value, units::Dimension::time);
  return fmt::format("{:.4g}", value);
}

std::string expected_text(const StudyRow& row) {
  return (row.relation == Relation::at_most ? "<= " : "") + figure_text(row, row.expected);
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string rows_csv(const StudyResult& result) {
  std::vector<Fields> rows = {{"id", "what", "metric", "kind", "paper", "simulated", "ratio",
                               "role", "tolerance", "within", "source"}};
  for (const StudyOutcome& outcome : result.outcomes) {
    const StudyRow& row = outcome.row;
    rows.push_back({row.id, row.what, row.metric,
                    row.relation == Relation::at_most ? "at most" : "equals", number(row.expected),
                    number(outcome.simulated), number(outcome.ratio()), std::string(name(row.role)),
                    number(row.tolerance), outcome.within_tolerance() ? "yes" : "no", row.source});
  }
  return output::csv(rows);
}

/// Time of all operations of these kinds.
double time_of(const std::vector<plan::OperationTotal>& operations,
               std::initializer_list<workloads::OperationKind> kinds) {
  double time_s = 0.0;
  for (const plan::OperationTotal& operation : operations)
    if (std::ranges::find(kinds, operation.kind) != kinds.end()) time_s += operation.time_s;
  return time_s;
}

/// The last columns: what a transformer does, and where its time goes. Empty without a workload.
Fields workload_fields(const run::ExperimentResult& result, const run::RunResult& run) {
  using workloads::OperationKind;
  constexpr std::size_t kFields = 9;
  if (!run.phase) return Fields(kFields);
  const config::WorkloadConfig& workload = *result.config.workload;
  const workloads::Extent extent = workloads::extent(workload.phase);
  const auto of = [&](std::initializer_list<OperationKind> kinds) {
    return number(time_of(result.operations, kinds));
  };
  return {workload.model.name,
          std::string(config::phase_name(workload.phase)),
          number(extent.keys),
          number(extent.batch),
          number(run.phase->compute_s),
          of({OperationKind::matrix}),
          of({OperationKind::attention}),
          of({OperationKind::vector, OperationKind::memory}),
          run.failure ? "" : number(run.phase->allreduce_s)};
}

Fields point_fields(const StudyPoint& point, std::size_t index) {
  const config::ExperimentConfig& config = point.result.config;
  const config::CollectiveConfig& collective = config.collectives[index];
  const run::RunResult& run = point.result.runs[index];
  const auto parts = [](const std::optional<std::uint32_t>& count) {
    return count ? fmt::format("{}", *count) : "";
  };
  Fields fields = {point.experiment,
                   config.chip.name,
                   config::topology_text(config.topology),
                   fmt::format("{}", run.chips),
                   fmt::format("{}", config.tensor.bytes()),
                   std::string(config::values_name(config.tensor)),
                   run.label,
                   std::string(config::algorithm_name(run.algorithm)),
                   std::string(collectives::name(collective.ring)),
                   collective.format.scaled ? std::string(name(collective.quantize)) : "",
                   collective.format.name,
                   parts(collective.minishards),
                   parts(collective.microshards),
                   run.failure ? "" : number(run.time_s),
                   run.speedup ? number(*run.speedup) : "",
                   number(run.lower_bound_s),
                   fmt::format("{}", run.wire_bytes_per_link),
                   number(run.breakdown.payload_s),
                   number(run.breakdown.scales_s),
                   number(run.breakdown.overhead_s),
                   number(run.breakdown.bubbles_s)};
  if (run.numerics) {
    const numerics::ErrorMetrics& exact = run.numerics->against_exact;
    fields.insert(fields.end(), {number(exact.mse), number(exact.nmse), number(exact.sqnr_db),
                                 number(run.numerics->against_baseline.value().mse)});
  } else {
    fields.resize(fields.size() + 4);
  }
  const Fields workload = workload_fields(point.result, run);
  fields.insert(fields.end(), workload.begin(), workload.end());
  return fields;
}

constexpr std::string_view kPointColumns =
    "experiment,hardware,topology,chips,tensor_bytes,values,label,algorithm,ring,quantize,format,"
    "minishards,microshards,time_s,speedup,lower_bound_s,wire_bytes_per_link,payload_s,scales_s,"
    "overhead_s,bubbles_s,mse,nmse,sqnr_db,mse_vs_baseline,model,phase,tokens,batch,compute_s,"
    "matrix_s,attention_s,elementwise_s,allreduce_s";

std::string points_csv(const StudyResult& result) {
  std::vector<Fields> rows;
  for (const StudyPoint& point : result.points)
    for (std::size_t run = 0; run < point.result.runs.size(); ++run)
      rows.push_back(point_fields(point, run));
  return fmt::format("{}\n{}", kPointColumns, output::csv(rows));
}

input::Json study_json(const StudyResult& result) {
  input::Json json = {{"program", "equarx-sim"},       {"version", output::version()},
                      {"title", result.study.title},   {"source", result.study.source},
                      {"notes", result.study.notes},   {"rows", input::Json::array()},
                      {"points", input::Json::array()}};
  for (const StudyOutcome& outcome : result.outcomes)
    json["rows"].push_back({{"id", outcome.row.id},
                            {"what", outcome.row.what},
                            {"metric", outcome.row.metric},
                            {"expected", outcome.row.expected},
                            {"simulated", outcome.simulated},
                            {"ratio", outcome.ratio()},
                            {"role", name(outcome.row.role)},
                            {"tolerance", outcome.row.tolerance},
                            {"within_tolerance", outcome.within_tolerance()},
                            {"source", outcome.row.source}});
  for (const StudyPoint& point : result.points) {
    input::Json at = input::Json::object();
    for (const auto& [pointer, value] : point.at) at[pointer] = *value;
    json["points"].push_back(
        {{"experiment", point.experiment}, {"at", at}, {"result", result::to_json(point.result)}});
  }
  return json;
}

std::string outcomes_table(const std::vector<StudyOutcome>& outcomes) {
  if (outcomes.empty()) return "  no reported figures to compare with\n";
  std::vector<output::TableRow> rows = {
      {"figure", "reported", "simulated", "ratio", "role", "tolerance", "within"}};
  for (const StudyOutcome& outcome : outcomes)
    rows.push_back({outcome.row.what, expected_text(outcome.row),
                    figure_text(outcome.row, outcome.simulated),
                    fmt::format("{:.3f}", outcome.ratio()), std::string(name(outcome.row.role)),
                    outcome.row.relation == Relation::at_most
                        ? "limit"
                        : fmt::format("{:.3g} %", 100.0 * outcome.row.tolerance),
                    std::string(verdict(outcome))});
  return output::aligned_table(rows);
}

}  // namespace

std::string to_table(const StudyResult& result) {
  std::string text = fmt::format("{}\n({})\n\n{}\n", result.study.title, result.study.source,
                                 outcomes_table(result.outcomes));
  for (const std::string& note : result.study.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::vector<std::filesystem::path> write_report(const StudyResult& result,
                                                const std::filesystem::path& folder) {
  output::make_folder(folder);
  return {output::write_file(folder / "rows.csv", rows_csv(result)),
          output::write_file(folder / "points.csv", points_csv(result)),
          output::write_file(folder / "study.json", study_json(result).dump(2) + "\n")};
}

}  // namespace equarx::study
