#include "experiments/step/report.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/step_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/workload_json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/output/table.hpp"
#include "experiments/trace/events.hpp"
#include "experiments/variation/report.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/numerics/errors/perplexity.hpp"
#include "models/units/quantity.hpp"

namespace equarx::step {
namespace {

using units::bytes_text;
using units::time_text;

std::string_view name(GroupKind kind) {
  switch (kind) {
    case GroupKind::computation: return "computation";
    case GroupKind::collective: return "collective";
    case GroupKind::permute: return "permute";
    case GroupKind::host: return "host";
  }
  return "";
}

std::vector<std::string> labels_of(const StepResult& result) {
  std::vector<std::string> labels;
  for (const VariantResult& variant : result.variants) labels.push_back(variant.label);
  return labels;
}

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

std::string memory_note(const steps::TrainingMemory& memory, const hardware::Chip& chip) {
  return fmt::format(
      "  Memory per chip: {} of {}: weights {}, gradients {}, optimizer {},\n"
      "    gathered weights {}, activations {}, logits {}.\n",
      bytes_text(memory.total()), bytes_text(chip.hbm_capacity.value), bytes_text(memory.weights),
      bytes_text(memory.gradients), bytes_text(memory.optimizer), bytes_text(memory.gathered),
      bytes_text(memory.activations), bytes_text(memory.logits));
}

std::string notes(const StepResult& result) {
  std::string text =
      "  Isolated: sum of task times when run alone. Overlapped, exposed: wall time with and "
      "without concurrent compute.\n";
  if (result.memory) {
    text += memory_note(*result.memory, result.config.machine.chip);
    text += "  MFU counts full attention and no recomputation; HFU counts executed FLOPs.\n";
  }
  const VariantResult& first = result.variants.front();
  text += first.symmetric ? fmt::format("  Exploiting symmetry: {}", first.simulation_reason)
                          : fmt::format("  All {} chips simulated ({})", first.simulated_chips,
                                        first.simulation_reason);
  text += fmt::format(". {} messages, engine: {}.\n", first.messages, sim::name(first.engine));
  return text + variation::trust_note(config::parameters_of(result.config.machine),
                                      result.config.machine.uncertainty.samples, first.uncertainty);
}

/// Expected effect of the errors, for inference; one line per variant.
std::string errors_note(const StepResult& result) {
  if (!result.variants.front().error) return {};
  std::string text =
      "  SQNR: of the worst collective with values, computed on a sample of its tensor.\n";
  if (result.config.training)
    return text + "  Effect on training: see docs/quality.md; NMSE alone does not decide.\n";
  for (const VariantResult& variant : result.variants)
    text += fmt::format(
        "  Perplexity with {}: {} (docs/quality.md, a model of 1.07 million weights).\n",
        variant.label, numerics::perplexity_text(variant.error->worst_nmse));
  return text;
}

input::Json groups_json(const std::vector<GroupResult>& groups) {
  input::Json list = input::Json::array();
  for (const GroupResult& group : groups) {
    list.push_back({{"group", group.name},
                    {"kind", name(group.kind)},
                    {"tasks", group.tasks},
                    {"isolated_s", group.isolated_s},
                    {"total_s", group.total_s},
                    {"exposed_s", group.exposed_s},
                    {"critical_s", group.critical_s}});
    if (group.error)
      list.back()["error"] = {{"mse", group.error->mse},
                              {"nmse", group.error->nmse},
                              {"sqnr_db", numerics::sqnr_db(group.error->nmse)},
                              {"sampled_fraction", group.error->sampled_fraction}};
  }
  return list;
}

input::Json tasks_json(const steps::StepGraph& graph, const VariantResult& variant) {
  input::Json list = input::Json::array();
  for (std::size_t id = 0; id < graph.tasks.size(); ++id)
    list.push_back({{"name", graph.tasks[id].name},
                    {"group", graph.tasks[id].group},
                    {"stream", graph.streams[graph.tasks[id].stream]},
                    {"start_s", variant.tasks[id].start_s},
                    {"end_s", variant.tasks[id].end_s}});
  return list;
}

}  // namespace

input::Json numbers_json(const VariantResult& variant) {
  input::Json json = {{"label", variant.label},
                      {"time_s", variant.time_s},
                      {"speedup", variant.speedup},
                      {"lower_bound_s", variant.lower_bound_s},
                      {"compute_s", variant.compute_s},
                      {"exposed_s", variant.exposed_s()},
                      {"core_busy_s", variant.core_busy_s},
                      {"calibrated", variant.calibrated}};
  if (variant.uncertainty) json["uncertainty"] = variation::to_json(*variant.uncertainty);
  if (variant.error) {
    json["worst_nmse"] = variant.error->worst_nmse;
    json["worst_sqnr_db"] = numerics::sqnr_db(variant.error->worst_nmse);
    json["mean_nmse"] = variant.error->mean_nmse;
  }
  if (!variant.efficiency) return json;
  json["tokens_per_s_per_chip"] = variant.efficiency->tokens_per_s;
  if (variant.efficiency->model_flops_share)
    json["model_flops_utilisation"] = *variant.efficiency->model_flops_share;
  json["hardware_flops_utilisation"] = variant.efficiency->hardware_flops_share;
  return json;
}

std::vector<std::string> number_names() {
  VariantResult trained;
  trained.efficiency = {.tokens_per_s = 0.0, .model_flops_share = 0.0};
  trained.error = {.worst_nmse = 1.0, .mean_nmse = 1.0};
  std::vector<std::string> names;
  const input::Json numbers = numbers_json(trained);
  for (const auto& [name, value] : numbers.items())
    if (value.is_number()) names.push_back(name);
  return names;
}

namespace {

input::Json variant_json(const steps::StepGraph& graph, const VariantResult& variant) {
  input::Json json = numbers_json(variant);
  json["groups"] = groups_json(variant.groups);
  json["tasks"] = tasks_json(graph, variant);
  json["critical_path"] = input::Json::array();
  for (const steps::TaskId id : variant.critical_path)
    json["critical_path"].push_back(graph.tasks[id].name);
  json["simulation"] = {{"chips", variant.simulated_chips},
                        {"symmetric", variant.symmetric},
                        {"reason", variant.simulation_reason},
                        {"engine", sim::name(variant.engine)},
                        {"messages", variant.messages}};
  return json;
}

}  // namespace

std::string title_text(const StepResult& result) {
  const config::StepConfig& config = result.config;
  std::vector<std::string> axes;
  for (const steps::MeshAxis& axis : config.mesh.axes)
    axes.push_back(fmt::format("{}={}", axis.name, axis.length));
  std::string what = fmt::format("Step of {} tasks", config.graph.tasks.size());
  if (config.training) {
    const steps::Training& training = config.training->training;
    what = fmt::format("Training step of {}, {} sequences of {} tokens", training.model.name,
                       training.batch, training.sequence);
  }
  if (config.workload)
    what = fmt::format(
        "{} step of {}",
        std::holds_alternative<workloads::Decode>(config.workload->phase) ? "Decode" : "Prefill",
        config.workload->model.name);
  return fmt::format("{} on {} x {}, {}; mesh: {}\n\n", what, config.mesh.chips(),
                     config.machine.chip.name, config::topology_text(config.machine.topology),
                     fmt::join(axes, ", "));
}

std::string overview_table(const StepResult& result) {
  const std::optional<Efficiency>& used = result.variants.front().efficiency;
  const bool uncertain = result.variants.front().uncertainty.has_value();
  std::vector<output::TableRow> rows = {{"variant", "time"}};
  if (uncertain) rows.front().emplace_back("68 % interval");
  rows.front().emplace_back("speedup");
  if (uncertain) rows.front().emplace_back("68 % interval");
  rows.front().insert(rows.front().end(), {"lower bound", "compute", "exposed"});
  const bool has_errors = result.variants.front().error.has_value();
  if (has_errors) rows.front().emplace_back("worst SQNR");
  if (used) rows.front().push_back("tokens/s/chip");
  if (used && used->model_flops_share) rows.front().push_back("MFU");
  if (used) rows.front().push_back("HFU");
  for (const VariantResult& variant : result.variants) {
    output::TableRow& row =
        rows.emplace_back(output::TableRow{variant.label, time_text(variant.time_s)});
    if (uncertain) row.push_back(variation::time_text(*variant.uncertainty));
    row.push_back(fmt::format("{:.3f}x", variant.speedup));
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

std::string to_table(const StepResult& result) {
  std::string text = title_text(result) + overview_table(result);
  for (const VariantResult& variant : result.variants) text += groups_table(variant);
  return text + notes(result) + errors_note(result) +
         variation::sensitivity_table(result.sensitivities, labels_of(result),
                                      result.config.baseline);
}

input::Json to_json(const StepResult& result) {
  const input::Json config = to_json(result.config);
  input::Json json = {
      {"program", "equarx-sim"},
      {"version", output::version()},
      {"config", config},
      {"config_hash", output::config_hash(config)},
      {"parameters", variation::parameters_json(config::parameters_of(result.config.machine))}};
  if (result.memory)
    json["memory_bytes"] = {{"weights", result.memory->weights},
                            {"gradients", result.memory->gradients},
                            {"optimizer", result.memory->optimizer},
                            {"gathered", result.memory->gathered},
                            {"activations", result.memory->activations},
                            {"logits", result.memory->logits},
                            {"total", result.memory->total()}};
  json["variants"] = input::Json::array();
  for (const VariantResult& variant : result.variants)
    json["variants"].push_back(variant_json(result.config.graph, variant));
  if (!result.sensitivities.empty())
    json["sensitivity"] = variation::to_json(result.sensitivities, labels_of(result));
  return json;
}

void write_trace(const StepResult& result, std::ostream& out) {
  const steps::StepGraph& graph = result.config.graph;
  trace::TraceEventWriter writer(out);
  for (std::uint32_t i = 0; i < result.variants.size(); ++i) {
    const VariantResult& variant = result.variants[i];
    writer.name_process(i + 1, variant.label);
    for (std::uint32_t stream = 0; stream < graph.streams.size(); ++stream)
      writer.name_track({i + 1, stream + 1}, graph.streams[stream]);
    for (std::size_t id = 0; id < graph.tasks.size(); ++id) {
      const steps::Task& task = graph.tasks[id];
      writer.add_slice({{i + 1, task.stream + 1},
                        task.name,
                        task.group,
                        trace::to_picoseconds(variant.tasks[id].start_s),
                        trace::to_picoseconds(variant.tasks[id].end_s)},
                       "{}");
    }
  }
  writer.finish({{"config", config::to_json(result.config)}});
}

}  // namespace equarx::step
