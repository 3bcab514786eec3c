#include "experiments/result/step_json.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/result/run_metrics.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::result {
namespace {

using step::GroupKind;
using step::GroupResult;
using step::StepResult;
using step::VariantResult;

std::string_view name(GroupKind kind) {
  switch (kind) {
    case GroupKind::computation: return "computation";
    case GroupKind::collective: return "collective";
    case GroupKind::permute: return "permute";
    case GroupKind::host: return "host";
  }
  return "";
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

/// An isolated collective; only its times if its groups are listed, as those contend for links.
input::Json collective_json(const step::CollectiveResult& collective, const JsonOptions& options) {
  input::Json json = {{"group", collective.group}, {"tasks", collective.tasks}};
  json.update(collective.run.links.empty() ? short_json(collective.run)
                                           : to_json(collective.run, options));
  return json;
}

/// Kinds of step, with skipped collectives, and with senders where some chips do not send.
input::Json kinds_json(const std::vector<step::KindResult>& kinds) {
  input::Json list = input::Json::array();
  for (const step::KindResult& kind : kinds) {
    input::Json calls = input::Json::array();
    for (const step::CallOfKind& call : kind.calls) {
      calls.push_back({{"group", call.group}});
      if (call.senders) calls.back()["senders"] = *call.senders;
    }
    list.push_back({{"share", kind.share}, {"time_s", kind.time_s}, {"fewer", std::move(calls)}});
  }
  return list;
}

input::Json operation_json(const step::OperationTotal& operation) {
  return {{"name", operation.name},
          {"kind", workloads::name(operation.kind)},
          {"count", operation.count},
          {"time_s", operation.time_s},
          {"flops", operation.flops},
          {"hbm_bytes", operation.hbm_bytes},
          {"roof", workloads::name(operation.roof)}};
}

}  // namespace

input::Json numbers_json(const VariantResult& variant) {
  input::Json json = input::Json::object();
  add_metrics(variant_metrics(), variant, json);
  return json;
}

std::vector<std::string> number_names(const config::StepConfig& config) {
  VariantResult variant;
  variant.speedup = 1.0;
  variant.expenses = hardware::expenses_of(config.machine.chip, {.time_s = 1.0});
  if (config.training || config.workload) variant.efficiency.emplace();
  if (config.training) variant.efficiency->model_flops_share = 0.0;
  const auto has_values = [](const auto& tensor) { return tensor.has_value(); };
  if (std::ranges::any_of(config.values, has_values))
    variant.error = {.worst_nmse = 1.0, .mean_nmse = 1.0};
  if (config.machine.uncertainty.samples > 0) variant.uncertainty.emplace();
  if (step::stage_of(config, 0)) variant.stage_idle = {0.0};
  if (config.calls.size() == 1) {
    run::RunResult& run = variant.collectives.emplace_back().run;
    run.algorithm = config.variants.front().collectives.front().algorithm;
    run.links.emplace_back();
    if (config.values.front()) run.numerics.emplace();
    if (config.compared && run.numerics) run.numerics->against_baseline.emplace();
  }
  return names_of_numbers(variant_metrics(), variant);
}

namespace {

input::Json variant_json(const steps::StepGraph& graph, const VariantResult& variant,
                         const JsonOptions& options) {
  input::Json json = numbers_json(variant);
  json["groups"] = groups_json(variant.groups);
  json["collectives"] = input::Json::array();
  for (const step::CollectiveResult& collective : variant.collectives)
    json["collectives"].push_back(collective_json(collective, options));
  json["tasks"] = tasks_json(graph, variant);
  json["critical_path"] = input::Json::array();
  for (const steps::TaskId id : variant.critical_path)
    json["critical_path"].push_back(graph.tasks[id].name);
  if (!variant.kinds.empty()) json["kinds"] = kinds_json(variant.kinds);
  if (!variant.stage_idle.empty()) json["stage_idle"] = variant.stage_idle;
  add_metrics(simulation_metrics(), variant, json);
  return json;
}

}  // namespace

input::Json to_json(const StepResult& result, const JsonOptions& options) {
  input::Json json = result_head(to_json(result.config), result.config.machine,
                                 variation::asked_of(result.config));
  if (result.memory)
    json["memory_bytes"] = {
        {"weights", result.memory->weights},         {"gradients", result.memory->gradients},
        {"optimizer", result.memory->optimizer},     {"gathered", result.memory->gathered},
        {"activations", result.memory->activations}, {"logits", result.memory->logits},
        {"total", result.memory->total()},           {"task", result.memory->task}};
  if (result.memory)
    if (const auto stage = step::stage_of(result.config, *result.memory))
      json["memory_bytes"]["stage"] = *stage;
  json["baseline"] = result.config.variants[result.config.baseline].label;
  json["runs"] = input::Json::array();
  for (const VariantResult& variant : result.runs)
    json["runs"].push_back(variant_json(result.config.graph, variant, options));
  if (!result.operations.empty()) {
    json["operations"] = input::Json::array();
    for (const step::OperationTotal& operation : result.operations)
      json["operations"].push_back(operation_json(operation));
  }
  add_after_runs(result, json);
  return json;
}

}  // namespace equarx::result
