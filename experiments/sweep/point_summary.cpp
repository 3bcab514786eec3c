#include "experiments/sweep/point_summary.hpp"

#include "base/input/json.hpp"
#include "experiments/config/chip_changes.hpp"

namespace equarx::sweep {

PointSummary summary_of(const config::AnyConfig& config) {
  const input::Json& resolved = config.resolved;
  PointSummary summary;
  summary.machine_and_tensor = {{"hardware", config::chip_text(resolved.at("hardware"))},
                                {"topology", config.topology}};
  if (config.tensor_bytes)
    summary.machine_and_tensor.push_back(
        {"tensor_bytes", field_text(input::Json(*config.tensor_bytes))});
  if (!resolved.contains("collectives")) return summary;
  for (const input::Json& collective : resolved.at("collectives")) {
    CollectiveSummary& one =
        summary.collectives.emplace_back(CollectiveSummary{field_text(collective.at("label")), {}});
    for (const char* key : {"format", "quantize"})
      if (collective.contains(key)) one.fields.push_back({key, field_text(collective[key])});
  }
  return summary;
}

}  // namespace equarx::sweep
