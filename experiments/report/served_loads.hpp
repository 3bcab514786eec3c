// Served loads and capacity plans as rows of a report.
#pragma once

#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/result/metrics.hpp"

namespace equarx::report {

/// The metric of a run, a served load or a load of a plan; null if there is none.
const result::MetricInfo* find_any_metric(std::string_view key);

/// True for outputs of `serve --json`.
bool is_load(const input::Json& json);

/// True for outputs of `plan --json`.
bool is_plan(const input::Json& json);

/// An output of `serve --json` as one of `run --json`, with one run.
input::Json result_of_load(const input::Json& load);

/// Points as of a sweep: the simulated loads of every ranked candidate, and what is out, with its
/// reason.
std::vector<input::Json> points_of_plan(const input::Json& plan);

}  // namespace equarx::report
