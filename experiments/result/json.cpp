#include "experiments/result/json.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/json.hpp"
#include "experiments/result/run_metrics.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "experiments/variation/report.hpp"

namespace equarx::result {
namespace {

input::Json candidate_json(const run::Candidate& candidate) {
  input::Json json = {{"algorithm", candidate.algorithm->name}};
  if (candidate.protocol != hardware::Protocol::none)
    json["protocol"] = hardware::name(candidate.protocol);
  if (candidate.time_s) json["time_s"] = *candidate.time_s;
  if (!candidate.note.empty()) json["note"] = candidate.note;
  return json;
}

input::Json links_json(const run::RunResult& run) {
  input::Json links = input::Json::array();
  for (const run::LinkUse& link : run.links) {
    input::Json json = {{"name", link.name}};
    if (!link.from.empty()) {
      json["from"] = link.from;
      json["to"] = link.to;
    }
    json["bytes"] = link.bytes;
    json["busy_s"] = link.busy_s;
    json["utilisation"] = link.utilisation(run.time_s);
    links.push_back(std::move(json));
  }
  return links;
}

}  // namespace

input::Json to_json(const run::RunResult& run, const JsonOptions& options) {
  input::Json json = input::Json::object();
  add_metrics(run_metrics(), run, json);
  if (!run.candidates.empty()) {
    json["candidates"] = input::Json::array();
    for (const run::Candidate& candidate : run.candidates)
      json["candidates"].push_back(candidate_json(candidate));
  }
  if (options.links) json["links"] = links_json(run);
  return json;
}

input::Json short_json(const run::RunResult& run) {
  constexpr std::array<std::string_view, 5> kKeys = {"label", "algorithm", "time_s", "chips",
                                                     "messages"};
  input::Json json = input::Json::object();
  for (const Metric<run::RunResult>& metric : run_metrics()) {
    const std::string& key = metric.info().key;
    if (std::ranges::find(kKeys, key) == kKeys.end() && !key.starts_with("numerics/")) continue;
    if (const auto value = metric.value(run)) set_metric(json, key, *value);
  }
  return json;
}

input::Json to_json(const variation::Uncertainty& uncertainty) {
  input::Json json = input::Json::object();
  add_metrics(uncertainty_metrics(), uncertainty, json);
  return json;
}

void add_after_runs(const std::vector<variation::Sensitivity>& sensitivities,
                    const std::vector<std::string>& labels,
                    const std::vector<values::NonfiniteInput>& nonfinite_inputs,
                    input::Json& json) {
  if (!sensitivities.empty()) json["sensitivity"] = variation::to_json(sensitivities, labels);
  if (nonfinite_inputs.empty()) return;
  json["nonfinite_inputs"] = input::Json::array();
  for (const values::NonfiniteInput& one : nonfinite_inputs)
    json["nonfinite_inputs"].push_back({{"rank", one.rank}, {"nan", one.nan}, {"inf", one.inf}});
}

std::vector<std::string> number_names(const config::ExperimentConfig& config) {
  run::RunResult run;
  run.expenses = hardware::expenses_of(config.chip, {.time_s = 1.0});
  run.speedup = 1.0;
  run.cut.emplace();
  run.elements_per_scale = 1.0;
  if (config.wire_buffers == collectives::WireBuffers::hbm) run.hbm_busy_share = 1.0;
  if (config.uncertainty.samples > 0) run.uncertainty.emplace();
  if (config.numerics) run.numerics.emplace().against_baseline.emplace();
  run.failure.emplace();
  return names_of_numbers(run_metrics(), run);
}

input::Json result_head(const input::Json& config, const config::ExperimentConfig& machine,
                        const accuracy::Asked& asked) {
  return {{"program", "equarx-sim"},
          {"version", output::version()},
          {"config", config},
          {"config_hash", output::config_hash(config)},
          {"parameters", variation::parameters_json(config::parameters_of(machine))},
          {"evidence", accuracy::evidence_json(accuracy::built_in_rows(), asked)}};
}

input::Json to_json(const run::ExperimentResult& result, const JsonOptions& options) {
  input::Json json =
      result_head(to_json(result.config), result.config, variation::asked_of(result.config));
  json["baseline"] = result.config.collectives[result.config.baseline].label;
  json["runs"] = input::Json::array();
  for (const run::RunResult& run : result.runs) json["runs"].push_back(to_json(run, options));
  add_after_runs(result, json);
  return json;
}

}  // namespace equarx::result
