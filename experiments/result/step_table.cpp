#include "experiments/result/step_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/workload_json.hpp"
#include "experiments/result/expenses_note.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "experiments/variation/report.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/numerics/errors/perplexity.hpp"

namespace equarx::result {
namespace {

using step::Efficiency;
using step::GroupKind;
using step::GroupResult;
using step::StepResult;
using step::VariantResult;
using units::bytes_text;
using units::time_text;

std::string sqnr_text(double nmse) { return numerics::sqnr_text(numerics::sqnr_db(nmse)); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string groups_table(const VariantResult& variant) {
  std::vector<output::TableRow> rows = {
      {variant.label, "tasks", "isolated", "wall time", "overlapped", "exposed", "critical path"}};
  if (variant.error) rows.front().emplace_back("SQNR");
  for (const GroupResult& group : variant.groups) {
    const bool computes = group.kind == GroupKind::computation;
    rows.push_back({group.name, fmt::format("{}", group.tasks), time_text(group.isolated_s),
                    time_text(group.total_s),
                    computes ? "-" : time_text(group.total_s - group.exposed_s),
                    computes ? "-" : time_text(group.exposed_s), time_text(group.critical_s)});
    if (variant.error) rows.back().push_back(group.error ? sqnr_text(group.error->nmse) : "-");
  }
  output::shorten_names(rows);
  return output::aligned_table(rows) + '\n';
}

std::string memory_note(const config::StepConfig& config, const steps::LiveMemory& memory) {
  const double capacity = config.machine.chip.hbm_capacity.value;
  const std::optional<std::uint32_t> stage = step::stage_of(config, memory);
  return fmt::format(
      "  Memory per chip{}: {} of {}{}, most during \"{}\":\n"
      "    weights {}, gradients {}, optimizer {}, gathered weights {}, activations {}, logits "
      "{}.\n",
      stage ? fmt::format(" of stage {}, the largest", *stage) : "", bytes_text(memory.total()),
      bytes_text(capacity), memory.total() > capacity ? " (does not fit)" : "", memory.task,
      bytes_text(memory.weights), bytes_text(memory.gradients), bytes_text(memory.optimizer),
      bytes_text(memory.gathered), bytes_text(memory.activations), bytes_text(memory.logits));
}

/// Idle share of the core by stage; nothing without a pipeline.
std::string bubble_note(const VariantResult& variant) {
  if (variant.stage_idle.empty()) return {};
  std::vector<std::string> shares;
  for (const double idle : variant.stage_idle)
    shares.push_back(fmt::format("{:.1f}", 100.0 * idle));
  return fmt::format("  Bubble of {}: {} of the time without compute; by stage {} %.\n",
                     variant.label, percent(*variant.bubble()), fmt::join(shares, ", "));
}

/// "gradients with 3 senders", or "without gradients"
std::string call_text(const step::CallOfKind& call) {
  return call.senders ? fmt::format("{} with {} senders", call.group, *call.senders)
                      : "without " + call.group;
}

/// Kinds of step of a variant; nothing if all are alike.
std::string kinds_note(const VariantResult& variant) {
  std::string text;
  for (const step::KindResult& kind : variant.kinds) {
    std::vector<std::string> calls;
    for (const step::CallOfKind& call : kind.calls) calls.push_back(call_text(call));
    if (calls.empty()) calls.emplace_back("with all collectives");
    text += fmt::format("  {}: {} of the steps take {}, {}.\n", variant.label, percent(kind.share),
                        time_text(kind.time_s), fmt::join(calls, ", "));
  }
  return text;
}

std::string notes(const StepResult& result) {
  std::string text =
      "  Isolated: sum of task times when run alone. Overlapped, exposed: wall time with and "
      "without concurrent compute.\n";
  for (const VariantResult& variant : result.runs) text += kinds_note(variant);
  if (result.memory) {
    text += memory_note(result.config, *result.memory);
    for (const VariantResult& variant : result.runs) text += bubble_note(variant);
    text += "  MFU counts full attention and no recomputation; HFU counts executed FLOPs.\n";
  }
  const std::optional<double> share = result.runs.front().hbm_share;
  if (result.config.workload && share.value_or(0.0) > 1.0)
    text += fmt::format("  Does not fit: each chip needs {:.2f} times its HBM.\n", *share);
  if (result.config.compared && result.config.calls.empty())
    text += "  One chip has no AllReduces: \"collectives\" and \"tensor\" do not apply.\n";
  const VariantResult& first = result.runs.front();
  text += first.symmetric ? fmt::format("  Exploiting symmetry: {}", first.simulation_reason)
                          : fmt::format("  All {} chips simulated ({})", first.simulated_chips,
                                        first.simulation_reason);
  text += fmt::format(". {} messages, engine: {}.\n", first.messages, sim::name(first.engine));
  text += expenses_note(result);
  return text + variation::trust_note(variation::asked_of(result.config),
                                      config::parameters_of(result.config.machine),
                                      result.config.machine.uncertainty.samples, first.uncertainty);
}

/// Expected effect of the errors, for inference; one line per variant.
std::string errors_note(const StepResult& result) {
  if (!result.runs.front().error) return {};
  std::string text =
      "  SQNR: of the worst collective with values, computed on a sample of its tensor.\n";
  if (result.config.training)
    return text + "  Effect on training: see docs/quality.md; NMSE alone does not decide.\n";
  for (const VariantResult& variant : result.runs)
    text += fmt::format(
        "  Perplexity with {}: {} (docs/quality.md, a model of 1.07 million weights).\n",
        variant.label, numerics::perplexity_text(variant.error->worst_nmse));
  return text;
}

/// "Prefill of gemma3-27b, 4096 tokens x 1"
std::string workload_text(const config::WorkloadConfig& workload) {
  const workloads::Extent extent = workloads::extent(workload.phase);
  return std::holds_alternative<workloads::Prefill>(workload.phase)
             ? fmt::format("Prefill of {}, {} tokens x {}", workload.model.name, extent.queries,
                           extent.batch)
             : fmt::format("Decoding of {}, one token each of {} sequences of {}",
                           workload.model.name, extent.batch, extent.keys);
}

std::string subject_text(const config::StepConfig& config) {
  if (config.workload) return workload_text(*config.workload);
  if (!config.training) return fmt::format("Step of {} tasks", config.graph.tasks.size());
  const steps::Training& training = config.training->training;
  return fmt::format("Training step of {}, {} sequences of {} tokens", training.model.name,
                     training.batch, training.sequence);
}

std::string mesh_text(const steps::Mesh& mesh) {
  std::vector<std::string> axes;
  for (const steps::MeshAxis& axis : mesh.axes)
    axes.push_back(fmt::format("{}={}", axis.name, axis.length));
  return fmt::format("{}", fmt::join(axes, ", "));
}

/// Operations of each chip, which do not depend on the variant.
std::string operations_table(const std::vector<step::OperationTotal>& operations) {
  double total_s = 0.0;
  for (const step::OperationTotal& operation : operations) total_s += operation.time_s;
  std::vector<output::TableRow> rows = {
      {"operation (per chip)", "count", "time", "of compute", "bound by"}};
  for (const step::OperationTotal& operation : operations)
    rows.push_back({operation.name, fmt::format("{}", operation.count), time_text(operation.time_s),
                    percent(operation.time_s / total_s),
                    std::string(workloads::name(operation.roof))});
  return output::aligned_table(rows) + '\n';
}

/// Collectives of a variant, each in one group in isolation.
std::string collectives_table(const VariantResult& variant) {
  if (variant.collectives.empty()) return {};
  std::vector<output::TableRow> rows = {
      {variant.label, "algorithm", "tasks", "isolated", "lower bound", "bytes/link"}};
  for (const step::CollectiveResult& collective : variant.collectives) {
    const run::RunResult& run = collective.run;
    const bool listed = run.links.empty();
    rows.push_back({collective.group, std::string(config::algorithm_name(run.algorithm)),
                    fmt::format("{}", collective.tasks), time_text(run.time_s),
                    listed ? "-" : time_text(run.lower_bound_s),
                    listed ? "-" : bytes_text(static_cast<double>(run.wire_bytes_per_link))});
  }
  output::shorten_names(rows);
  return output::aligned_table(rows) + '\n';
}

}  // namespace

std::string title_text(const StepResult& result) {
  const config::StepConfig& config = result.config;
  std::string title =
      fmt::format("{} on {} x {}, {}", subject_text(config), config.mesh.chips(),
                  config.machine.chip.name, config::topology_text(config.machine.topology));
  if (!config.compared) title += "; mesh: " + mesh_text(config.mesh);
  return title + "\n\n";
}

std::string overview_table(const StepResult& result) {
  const std::optional<Efficiency>& used = result.runs.front().efficiency;
  const bool uncertain = result.runs.front().uncertainty.has_value();
  std::vector<output::TableRow> rows = {{"variant", "time"}};
  if (uncertain) rows.front().emplace_back("68 % interval");
  rows.front().emplace_back("speedup");
  if (uncertain) rows.front().emplace_back("68 % interval");
  rows.front().insert(rows.front().end(), {"lower bound", "compute", "exposed"});
  const bool has_errors = result.runs.front().error.has_value();
  if (has_errors) rows.front().emplace_back("worst SQNR");
  if (used) rows.front().push_back("tokens/s/chip");
  if (used && used->model_flops_share) rows.front().push_back("MFU");
  if (used) rows.front().push_back("HFU");
  for (const VariantResult& variant : result.runs) {
    output::TableRow& row =
        rows.emplace_back(output::TableRow{variant.label, time_text(variant.time_s)});
    if (uncertain) row.push_back(variation::time_text(*variant.uncertainty));
    row.push_back(fmt::format("{:.3f}x", variant.speedup.value()));
    if (uncertain) row.push_back(variation::speedup_text(*variant.uncertainty));
    row.insert(row.end(), {time_text(variant.lower_bound_s), time_text(variant.compute_s),
                           time_text(variant.exposed_s())});
    if (has_errors) row.push_back(sqnr_text(variant.error->worst_nmse));
    if (!variant.efficiency) continue;
    row.push_back(fmt::format("{:.0f}", variant.efficiency->tokens_per_s));
    if (variant.efficiency->model_flops_share)
      row.push_back(percent(*variant.efficiency->model_flops_share));
    row.push_back(percent(variant.efficiency->hardware_flops_share));
  }
  output::fit_width(rows, {"lower bound", "compute", "HFU", "exposed"});
  return output::aligned_table(rows) + '\n';
}

std::string to_table(const StepResult& result, const TableOptions& options) {
  std::string text = title_text(result) + overview_table(result);
  for (const VariantResult& variant : result.runs) {
    text += groups_table(variant);
    if (result.config.calls.empty()) break;  // all variants are equal
  }
  if (options.verbose) {
    if (!result.operations.empty()) text += operations_table(result.operations);
    for (const VariantResult& variant : result.runs) text += collectives_table(variant);
  }
  return text + notes(result) + errors_note(result) +
         variation::sensitivity_table(result.sensitivities, result.labels(),
                                      result.config.baseline);
}

}  // namespace equarx::result
