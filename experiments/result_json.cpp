#include "experiments/result_json.hpp"

#include <fmt/format.h>

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

}  // namespace

Json to_json(const RunResult& run) {
  return {{"label", run.label},
          {"time_s", run.time_s},
          {"speedup", run.speedup},
          {"lower_bound_s", run.lower_bound_s},
          {"wire_bytes_per_link", run.wire_bytes_per_link},
          {"chips", run.chips},
          {"simulation", run.symmetric ? "symmetric" : "full"},
          {"core_busy_s", run.core_busy_s},
          {"breakdown",
           {{"payload_s", run.breakdown.payload_s},
            {"scales_s", run.breakdown.scales_s},
            {"overhead_s", run.breakdown.overhead_s},
            {"bubbles_s", run.breakdown.bubbles_s}}},
          {"numerics", run.numerics ? numerics_json(*run.numerics) : Json(nullptr)}};
}

std::string_view version() { return EQUARX_VERSION; }

std::string config_hash(const Json& resolved) {
  constexpr std::uint64_t kOffsetBasis = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kOffsetBasis;
  for (const char c : resolved.dump()) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return fmt::format("{:016x}", hash);
}

Json to_json(const ExperimentResult& result) {
  const Json config = to_json(result.config);
  Json json = {{"program", "equarx-sim"},
               {"version", version()},
               {"config", config},
               {"config_hash", config_hash(config)},
               {"parameters", parameters_json(result.config.chip)},
               {"baseline", result.config.collectives[result.config.baseline].label},
               {"runs", Json::array()}};
  for (const RunResult& run : result.runs) json["runs"].push_back(to_json(run));
  return json;
}

}  // namespace equarx::experiments
