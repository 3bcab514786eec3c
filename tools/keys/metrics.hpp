// Schema and rows of the metrics of results.
#pragma once

#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/result/metrics.hpp"
#include "tools/keys/rows.hpp"

namespace equarx::keys {

/// Schema of results with the metrics of runs and of steps; all else is as in `schema`, also the
/// lists of runs.
input::Json with_metrics(const input::Json& schema);

/// The schema of an object with these metrics, made from `written`, which has the schemas of lists.
input::Json metrics_schema(const std::vector<result::MetricInfo>& metrics,
                           const input::Json& written);

/// Schema of a served load's result.
input::Json served_schema();

/// Schema of a capacity plan.
input::Json plan_schema();

/// Rows of runs of collectives, in docs/results.md.
std::vector<KeyRow> run_rows();

/// Rows of variants of steps, without those of their numerics, which are as of collectives.
std::vector<KeyRow> step_rows();

}  // namespace equarx::keys
