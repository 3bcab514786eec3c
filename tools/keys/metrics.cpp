#include "tools/keys/metrics.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "experiments/capacity/metrics.hpp"
#include "experiments/result/run_metrics.hpp"
#include "experiments/serve/metrics.hpp"
#include "tools/keys/document.hpp"

namespace equarx::keys {
namespace {

using input::Json;
using result::Empty;
using result::MetricInfo;
using result::Unit;

/// Keywords of a unit, as JSON text.
std::string_view keywords_of(Unit unit) {
  switch (unit) {
    case Unit::text: return R"({"type": "string"})";
    case Unit::flag: return R"({"type": "boolean"})";
    case Unit::count:
    case Unit::bytes: return R"({"type": "integer", "minimum": 0})";
    case Unit::time:
    case Unit::energy:
    case Unit::money:
    case Unit::speedup:
    case Unit::share:
    case Unit::number: return R"({"type": "number", "minimum": 0})";
    case Unit::ratio: return R"({"type": "number"})";
    case Unit::decibel:
    case Unit::squared:
    case Unit::tensor: return R"({"type": ["number", "null"]})";
    case Unit::object: return R"({"type": "object", "additionalProperties": false})";
    case Unit::list: return R"({"type": "array"})";
  }
  return "{}";
}

Json schema_of(const MetricInfo& metric) {
  Json schema = {{"description", plain_text(metric.meaning)}};
  schema.update(Json::parse(keywords_of(metric.unit)));
  if (!metric.schema.empty()) schema.update(Json::parse(metric.schema));
  if (metric.empty == Empty::null) schema["type"] = {schema["type"], "null"};
  if (metric.unit == Unit::object) {
    schema["required"] = Json::array();
    schema["properties"] = Json::object();
  }
  return schema;
}

template <typename Object>
std::vector<MetricInfo> infos_of(const result::Metrics<Object>& metrics) {
  std::vector<MetricInfo> infos;
  for (const result::Metric<Object>& metric : metrics) infos.push_back(metric.info());
  return infos;
}

std::vector<MetricInfo> variant_infos() {
  return infos_of(result::joined({result::variant_metrics(), result::simulation_metrics()}));
}

std::vector<KeyRow> rows_of(const std::vector<MetricInfo>& metrics) {
  std::vector<KeyRow> rows;
  for (const MetricInfo& metric : metrics) {
    std::string path = "runs[]." + metric.key;
    for (char& letter : path)
      if (letter == '/') letter = '.';
    rows.push_back({std::move(path), "", std::string(result::unit_text(metric.unit)),
                    std::string(metric.meaning)});
  }
  return rows;
}

}  // namespace

Json metrics_schema(const std::vector<MetricInfo>& metrics, const Json& written) {
  Json schema = written;
  schema["required"] = Json::array();
  schema["properties"] = Json::object();
  for (const MetricInfo& metric : metrics) {
    const std::size_t slash = metric.key.find('/');
    const std::string outer = metric.key.substr(0, slash);
    const bool is_inner = slash != std::string::npos;
    const std::string key = is_inner ? metric.key.substr(slash + 1) : outer;
    Json& object = is_inner ? schema["properties"].at(outer) : schema;
    object["properties"][key] =
        metric.unit == Unit::list ? written.at("properties").at(key) : schema_of(metric);
    if (metric.empty != Empty::absent) object["required"].push_back(key);
  }
  return schema;
}

Json with_metrics(const Json& schema) {
  Json whole = schema;
  Json& definitions = whole.at("definitions");
  definitions["run"] = metrics_schema(infos_of(result::run_metrics()), definitions.at("run"));
  definitions["step_run"] = metrics_schema(variant_infos(), definitions.at("step_run"));
  return whole;
}

std::vector<KeyRow> run_rows() { return rows_of(infos_of(result::run_metrics())); }

std::vector<KeyRow> step_rows() {
  std::vector<MetricInfo> metrics = variant_infos();
  std::erase_if(metrics, [](const MetricInfo& one) { return one.key.starts_with("numerics/"); });
  return rows_of(metrics);
}

Json served_schema() {
  const Json empty = {{"type", "object"}, {"additionalProperties", false}};
  Json schema = metrics_schema(infos_of(serve::serve_metrics()), empty);
  schema["properties"]["version"] = {{"type", "string"}};
  schema["properties"]["config"] = {{"type", "object"}};
  schema["properties"]["requests_list"] = {
      {"description", "with --requests: times of every request, and by state"},
      {"type", "array"},
      {"items", {{"type", "object"}}}};
  for (const char* const key : {"version", "config"}) schema["required"].push_back(key);
  return schema;
}

namespace {

/// An object with these metrics, and no other key.
template <typename Object>
Json object_schema(const result::Metrics<Object>& metrics) {
  return metrics_schema(infos_of(metrics), {{"type", "object"}, {"additionalProperties", false}});
}

void add_required(Json& schema, const char* key, Json value) {
  schema["properties"][key] = std::move(value);
  schema["required"].push_back(key);
}

Json list_of(const char* meaning, Json items) {
  return {{"description", meaning}, {"type", "array"}, {"items", std::move(items)}};
}

/// Machine and formats of a candidate.
Json choice_schema() {
  Json schema = object_schema(capacity::choice_metrics());
  add_required(schema, "topology", {{"type", "object"}});
  return schema;
}

Json ranked_schema() {
  Json schema = input::joined({choice_schema(), object_schema(capacity::candidate_metrics()),
                               object_schema(capacity::ranked_metrics())});
  add_required(schema, "points",
               list_of("simulated loads that meet the limits, by rate",
                       object_schema(capacity::point_metrics())));
  add_required(schema, "config", {{"description", "for 'equarx-sim serve'"}, {"type", "object"}});
  return schema;
}

Json obstacle_schema() {
  Json schema = choice_schema();
  add_required(schema, "reason", {{"type", "string"}});
  return schema;
}

}  // namespace

Json plan_schema() {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  add_required(schema, "version", {{"type", "string"}});
  add_required(schema, "request", object_schema(capacity::request_metrics()));
  add_required(schema, "spread",
               {{"description",
                 "deviation of ln(measured / simulated) of prefills and decoding "
                 "steps; null if unknown"},
                {"type", {"number", "null"}}});
  add_required(schema, "ranked", list_of("simulated under a load, best first", ranked_schema()));
  add_required(
      schema, "estimated",
      list_of("all within the limits by their steady state, best first",
              input::joined({choice_schema(), object_schema(capacity::candidate_metrics())})));
  add_required(
      schema, "sensitivities",
      list_of("of the best, largest first", object_schema(capacity::sensitivity_metrics())));
  add_required(schema, "obstacles",
               list_of("machines and formats that are out", obstacle_schema()));
  return schema;
}

}  // namespace equarx::keys
