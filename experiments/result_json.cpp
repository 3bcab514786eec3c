#include "experiments/result_json.hpp"

#include <fmt/format.h>

#include "experiments/algorithms.hpp"
#include "experiments/config_json.hpp"
#include "experiments/hardware_json.hpp"

namespace equarx::experiments {
namespace {

Json numerics_json(const values::ValueResult& values) {
  const numerics::ErrorMetrics& exact = values.against_exact;
  return {{"mse", exact.mse},
          {"nmse", exact.nmse},
          {"sqnr_db", exact.sqnr_db},
          {"max_abs_error", exact.max_abs_error},
          {"mean_signed_error", exact.mean_signed_error},
          {"cosine_similarity", exact.cosine_similarity},
          {"mse_vs_baseline", values.against_baseline.value().mse},
          {"nmse_vs_baseline", values.against_baseline.value().nmse},
          {"clipped_fraction", values.clipped_fraction()},
          {"flushed_fraction", values.flushed_fraction()},
          {"ranks_identical", values.ranks_identical},
          {"elements", exact.count},
          {"sampled_fraction", values.sampled_fraction}};
}

Json candidate_json(const Candidate& candidate) {
  Json json = {{"algorithm", name(candidate.algorithm)}};
  if (candidate.time_s) json["time_s"] = *candidate.time_s;
  if (!candidate.note.empty()) json["note"] = candidate.note;
  return json;
}

Json failure_json(const FailureReport& failure) {
  return {{"time_s", failure.time_s},
          {"link", failure.link},
          {"from", failure.from},
          {"to", failure.to},
          {"transfer", failure.transfer}};
}

Json operation_json(const OperationTotal& operation) {
  return {{"name", operation.name},
          {"kind", workloads::name(operation.kind)},
          {"count", operation.count},
          {"time_s", operation.time_s},
          {"flops", operation.flops},
          {"hbm_bytes", operation.hbm_bytes},
          {"roof", workloads::name(operation.roof)}};
}

Json links_json(const RunResult& run) {
  Json links = Json::array();
  for (const LinkUse& link : run.links) {
    Json json = {{"name", link.name}};
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

Json to_json(const RunResult& run, const JsonOptions& options) {
  const bool done = !run.failure;
  Json json = {{"label", run.label},
               {"algorithm", name(run.algorithm)},
               {"time_s", done ? Json(run.time_s) : Json(nullptr)},
               {"speedup", run.speedup ? Json(*run.speedup) : Json(nullptr)},
               {"lower_bound_s", run.lower_bound_s},
               {"wire_bytes_per_link", run.wire_bytes_per_link},
               {"chips", run.chips},
               {"simulation", run.symmetric ? "symmetric" : "full"},
               {"simulation_reason", run.simulation_reason},
               {"messages", run.messages},
               {"core_busy_s", run.core_busy_s},
               {"breakdown",
                {{"payload_s", run.breakdown.payload_s},
                 {"scales_s", run.breakdown.scales_s},
                 {"overhead_s", run.breakdown.overhead_s},
                 {"bubbles_s", run.breakdown.bubbles_s}}},
               {"numerics", run.numerics ? numerics_json(*run.numerics) : Json(nullptr)}};
  if (run.phase) {
    json["compute_s"] = run.phase->compute_s;
    json["allreduce_s"] = done ? Json(run.phase->allreduce_s) : Json(nullptr);
    json["allreduce_count"] = run.phase->allreduces;
    json["layers_repeated"] = run.phase->layers_repeated;
  }
  if (!done) json["failure"] = failure_json(*run.failure);
  if (!run.candidates.empty()) {
    json["candidates"] = Json::array();
    for (const Candidate& candidate : run.candidates)
      json["candidates"].push_back(candidate_json(candidate));
  }
  if (options.links) json["links"] = links_json(run);
  return json;
}

std::string_view version() { return EQUARX_VERSION; }

std::string text_hash(std::string_view text) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kOffsetBasis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return fmt::format("{:016x}", hash);
}

std::string config_hash(const Json& resolved) { return text_hash(resolved.dump()); }

Json to_json(const ExperimentResult& result, const JsonOptions& options) {
  const Json config = to_json(result.config);
  Json json = {{"program", "equarx-sim"},
               {"version", version()},
               {"config", config},
               {"config_hash", config_hash(config)},
               {"parameters", parameters_json(result.config.chip)},
               {"baseline", result.config.collectives[result.config.baseline].label},
               {"runs", Json::array()}};
  for (const RunResult& run : result.runs) json["runs"].push_back(to_json(run, options));
  if (!result.operations.empty()) {
    json["operations"] = Json::array();
    for (const OperationTotal& operation : result.operations)
      json["operations"].push_back(operation_json(operation));
  }
  return json;
}

}  // namespace equarx::experiments
