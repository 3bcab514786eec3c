// Declarations of all metrics.
#pragma once

#include <string_view>
#include <vector>

#include "experiments/result/metrics.hpp"

namespace equarx::result {

/// Declarations of all metrics: of runs, then of variants only.
const std::vector<MetricInfo>& all_metrics();

/// The declaration of a metric; null if there is none.
const MetricInfo* find_metric(std::string_view key);

}  // namespace equarx::result
