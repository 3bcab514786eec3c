#include "experiments/report/served_loads.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/hash.hpp"
#include "base/output/provenance.hpp"
#include "experiments/capacity/metrics.hpp"
#include "experiments/result/all_metrics.hpp"
#include "experiments/serve/metrics.hpp"

namespace equarx::report {
namespace {

using input::Json;
using result::MetricInfo;

template <typename Object>
const MetricInfo* find(const result::Metrics<Object>& metrics, std::string_view key) {
  const auto found = std::ranges::find_if(
      metrics, [&](const result::Metric<Object>& one) { return one.info().key == key; });
  return found == metrics.end() ? nullptr : &found->info();
}

/// Settings of a machine in some formats, by JSON pointer into a configuration.
Json axes_of(const Json& choice) {
  Json axes = {{"/hardware", choice.at("chip")},
               {"/topology", choice.at("topology")},
               {"/serving/precision", choice.at("precision")},
               {"/serving/kv", choice.at("kv")}};
  if (choice.at("collective").is_string())
    axes["/serving/quantize/0/format"] = choice.at("collective");
  return axes;
}

Json point_of(const Json& plan, Json axes) {
  return {{"version", plan.at("version")},
          {"key", output::text_hash(axes.dump() + plan.at("request").dump())},
          {"axes", std::move(axes)}};
}

/// A load of a candidate. `rank`: from 1
Json load_of(const Json& plan, const Json& candidate, const Json& load, std::size_t rank) {
  Json axes = axes_of(candidate);
  axes["/serving/load/requests_per_s"] = load.at("requests_per_s");
  Json point = point_of(plan, std::move(axes));
  point["config"] = candidate.at("config");
  point["config"]["serving"]["load"]["requests_per_s"] = load.at("requests_per_s");
  Json& run = point["run"] = load;
  run["label"] = fmt::format("{}: {} x {}", rank, candidate.at("chips").get<std::uint64_t>(),
                             candidate.at("chip").get<std::string>());
  const auto chips = candidate.at("chips").get<double>();
  run["output_tokens_per_s_per_chip"] = load.at("output_tokens_per_s").get<double>() / chips;
  for (const char* const key : {"chips", "calibrated", "weights_nmse", "kv_nmse", "sums_nmse"})
    run[key] = candidate.at(key);
  const Json& dollars = candidate.at("dollars_per_million_tokens");
  if (dollars.is_number())  // at the largest rate; a replica costs the same at all
    run["cost_per_million_output_tokens_usd"] =
        dollars.get<double>() * candidate.at("points").back().at("requests_per_s").get<double>() /
        load.at("requests_per_s").get<double>();
  return point;
}

}  // namespace

const MetricInfo* find_any_metric(std::string_view key) {
  if (const MetricInfo* const metric = result::find_metric(key)) return metric;
  if (const MetricInfo* const metric = find(serve::serve_metrics(), key)) return metric;
  if (const MetricInfo* const metric = find(capacity::point_metrics(), key)) return metric;
  return find(capacity::ranked_metrics(), key);
}

bool is_load(const Json& json) {
  return json.is_object() && json.contains("ttft") && json.contains("config");
}

bool is_plan(const Json& json) {
  return json.is_object() && json.contains("ranked") && json.contains("obstacles");
}

Json result_of_load(const Json& load) {
  Json run = load;
  for (const char* const key : {"version", "config", "requests_list"}) run.erase(key);
  const Json& model = load.at("config").at("serving").at("model");
  run["label"] = model.is_string() ? model : Json("load");
  return {{"program", "equarx-sim"},
          {"version", load.at("version")},
          {"config", load.at("config")},
          {"config_hash", output::config_hash(load.at("config"))},
          {"runs", Json::array({std::move(run)})}};
}

std::vector<Json> points_of_plan(const Json& plan) {
  std::vector<Json> points;
  std::size_t rank = 0;
  for (const Json& candidate : plan.at("ranked")) {
    ++rank;
    for (const Json& load : candidate.at("points"))
      points.push_back(load_of(plan, candidate, load, rank));
  }
  for (const Json& obstacle : plan.at("obstacles")) {
    points.push_back(point_of(plan, axes_of(obstacle)));
    points.back()["status"] = "is out";
    points.back()["reason"] = obstacle.at("reason");
  }
  return points;
}

}  // namespace equarx::report
