// Metrics of a served load: the numbers of its JSON, tables and pages.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/input/object_reader.hpp"
#include "experiments/result/metrics.hpp"
#include "experiments/serve/serve.hpp"

namespace equarx::serve {

/// All metrics of a result, in the order of their keys.
const result::Metrics<ServeResult>& serve_metrics();

/// Name of a state, as in metrics: "waits_for_step".
std::string_view name(serving::State state);

/// Bytes of a metric, rounded to an integer.
std::uint64_t whole_bytes(double bytes);

/// Version, configuration with all defaults, and metrics. `requests`: also the times of every
/// request.
input::Json to_json(const ServeResult& result, bool requests);

}  // namespace equarx::serve
