#include "experiments/result/json.hpp"

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/json.hpp"
#include "experiments/variation/report.hpp"

namespace equarx::result {
namespace {

input::Json candidate_json(const run::Candidate& candidate) {
  input::Json json = {{"algorithm", candidate.algorithm->name}};
  if (candidate.time_s) json["time_s"] = *candidate.time_s;
  if (!candidate.note.empty()) json["note"] = candidate.note;
  return json;
}

input::Json failure_json(const run::FailureReport& failure) {
  return {{"time_s", failure.time_s},
          {"link", failure.link},
          {"from", failure.from},
          {"to", failure.to},
          {"transfer", failure.transfer}};
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
  const bool done = !run.failure;
  input::Json json = {
      {"label", run.label},
      {"algorithm", config::algorithm_name(run.algorithm)},
      {"time_s", done ? input::Json(run.time_s) : input::Json(nullptr)},
      {"speedup", input::or_null(run.speedup)},
      {"lower_bound_s", run.lower_bound_s},
      {"wire_bytes_per_link", run.wire_bytes_per_link},
      {"chips", run.chips},
      {"calibrated", run.calibrated},
      {"simulation", run.symmetric ? "symmetric" : "full"},
      {"simulation_reason", run.simulation_reason},
      {"engine", sim::name(run.engine)},
      {"engine_reason", run.engine_reason},
      {"minishards", run.cut ? input::Json(run.cut->minishards) : input::Json(nullptr)},
      {"microshards", run.cut ? input::Json(run.cut->microshards) : input::Json(nullptr)},
      {"cut_reason", run.cut_reason},
      {"messages", run.messages},
      {"elements_per_scale", input::or_null(run.elements_per_scale)},
      {"core_busy_s", run.core_busy_s},
      {"core",
       {{"busy_s", run.core.busy_s},
        {"waits_for_links_s", run.core.waits.links_s},
        {"waits_for_senders_s", run.core.waits.senders_s},
        {"waits_for_queue_s", run.core.waits.queue_s}}},
      {"breakdown",
       {{"payload_s", run.breakdown.payload_s},
        {"scales_s", run.breakdown.scales_s},
        {"sync_s", run.breakdown.sync_s},
        {"startup_s", run.breakdown.startup_s},
        {"idle_s", run.breakdown.idle_s}}},
      {"numerics", run.numerics ? numerics_json(*run.numerics) : input::Json(nullptr)}};
  if (run.hbm_busy_share) json["hbm_busy_share"] = *run.hbm_busy_share;
  if (run.uncertainty) json["uncertainty"] = variation::to_json(*run.uncertainty);
  if (!done) json["failure"] = failure_json(*run.failure);
  if (!run.candidates.empty()) {
    json["candidates"] = input::Json::array();
    for (const run::Candidate& candidate : run.candidates)
      json["candidates"].push_back(candidate_json(candidate));
  }
  if (options.links) json["links"] = links_json(run);
  return json;
}

input::Json numerics_json(const values::ValueResult& values) {
  const numerics::ErrorMetrics& exact = values.against_exact;
  input::Json json = {{"mse", exact.mse},
                      {"nmse", exact.nmse},
                      {"sqnr_db", exact.sqnr_db},
                      {"max_abs_error", exact.max_abs_error},
                      {"mean_signed_error", exact.mean_signed_error},
                      {"cosine_similarity", exact.cosine_similarity},
                      {"clipped_fraction", values.clipped_fraction()},
                      {"flushed_fraction", values.flushed_fraction()},
                      {"ranks_identical", values.ranks_identical},
                      {"elements", exact.count},
                      {"nonfinite_elements", exact.nonfinite},
                      {"sampled_fraction", values.sampled_fraction}};
  if (values.against_baseline) {
    json["mse_vs_baseline"] = values.against_baseline->mse;
    json["nmse_vs_baseline"] = values.against_baseline->nmse;
  }
  return json;
}

input::Json short_json(const run::RunResult& run) {
  input::Json json = {{"label", run.label},
                      {"algorithm", run.algorithm->name},
                      {"time_s", run.time_s},
                      {"chips", run.chips},
                      {"messages", run.messages}};
  if (run.numerics) json["numerics"] = numerics_json(*run.numerics);
  return json;
}

input::Json nonfinite_json(const std::vector<values::NonfiniteInput>& inputs) {
  input::Json json = input::Json::array();
  for (const values::NonfiniteInput& one : inputs)
    json.push_back({{"rank", one.rank}, {"nan", one.nan}, {"inf", one.inf}});
  return json;
}

std::vector<std::string> number_names(const config::ExperimentConfig& config) {
  run::RunResult run;
  run.speedup = 1.0;
  run.cut.emplace();
  run.elements_per_scale = 1.0;
  if (config.wire_buffers == collectives::WireBuffers::hbm) run.hbm_busy_share = 1.0;
  if (config.uncertainty.samples > 0) run.uncertainty.emplace();
  if (config.numerics) run.numerics.emplace().against_baseline.emplace();
  std::vector<std::string> names;
  const input::Json members = to_json(run).flatten();
  for (const auto& [pointer, value] : members.items())
    if (value.is_number()) names.push_back(pointer.substr(1));
  names.emplace_back("failure/time_s");
  return names;
}

input::Json to_json(const run::ExperimentResult& result, const JsonOptions& options) {
  const input::Json config = to_json(result.config);
  input::Json json = {
      {"program", "equarx-sim"},
      {"version", output::version()},
      {"config", config},
      {"config_hash", output::config_hash(config)},
      {"parameters", variation::parameters_json(config::parameters_of(result.config))},
      {"baseline", result.config.collectives[result.config.baseline].label},
      {"runs", input::Json::array()}};
  for (const run::RunResult& run : result.runs) json["runs"].push_back(to_json(run, options));
  if (!result.sensitivities.empty()) {
    json["sensitivity"] = variation::to_json(result.sensitivities, result.labels());
  }
  if (!result.nonfinite_inputs.empty())
    json["nonfinite_inputs"] = nonfinite_json(result.nonfinite_inputs);
  return json;
}

}  // namespace equarx::result
