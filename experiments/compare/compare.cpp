#include "experiments/compare/compare.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/result/all_metrics.hpp"

namespace equarx::compare {
namespace {

[[noreturn]] void reject(const std::string& path, const std::string& reason) {
  throw input::InputError("", fmt::format("{}: {}", path, reason));
}

/// Rejects a file that is not a result, with a hint based on its contents, `text`.
[[noreturn]] void reject_other(const std::string& path, const std::string& text) {
  const std::string run = "'equarx-sim run CONFIG --json > result.json'";
  const input::Json line = input::Json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (line.is_object() && line.contains("axes"))
    reject(path,
           "holds the points of a sweep, which 'equarx-sim report' and plot.py compare; "
           "to compare two of them, run each with " +
               run);
  const input::Json whole = input::Json::parse(text, nullptr, false);
  if (whole.is_object() && whole.contains("collectives"))
    reject(path, fmt::format("is a configuration, not a result; create one with 'equarx-sim run {} "
                             "--json > result.json'",
                             path));
  reject(path, "is not a result of a run; create one with " + run);
}

bool is_result(const input::Json& json) {
  const auto has = [&](const char* name, input::Json::value_t type) {
    return json.contains(name) && json[name].type() == type;
  };
  using Type = input::Json::value_t;
  if (!json.is_object() || !has("program", Type::string) || json["program"] != "equarx-sim" ||
      !has("version", Type::string) || !has("config", Type::object) || !has("runs", Type::array))
    return false;
  return std::ranges::all_of(json["runs"], [](const input::Json& run) {
    return run.is_object() && run.contains("label") && run["label"].is_string();
  });
}

input::Json read_result(const std::string& path) {
  const std::string text = input::read_file(path);
  input::Json json = input::Json::parse(text, nullptr, false);
  if (!is_result(json)) reject_other(path, text);
  return json;
}

const input::Json* find_run(const input::Json& result, const std::string& label) {
  for (const input::Json& run : result["runs"])
    if (run["label"] == label) return &run;
  return nullptr;
}

std::optional<double> number_of(const input::Json* run, std::string_view name) {
  if (run == nullptr) return std::nullopt;
  const input::Json::json_pointer pointer(fmt::format("/{}", name));
  if (!run->contains(pointer) || !run->at(pointer).is_number()) return std::nullopt;
  return run->at(pointer).get<double>();
}

CollectivePair pair_of(const std::string& label, const input::Json& a, const input::Json& b) {
  const input::Json* run_a = find_run(a, label);
  const input::Json* run_b = find_run(b, label);
  CollectivePair pair{label, run_a != nullptr, run_b != nullptr, {}};
  for (const result::MetricInfo& metric : result::all_metrics()) {
    if (!metric.compared) continue;
    NumberPair numbers{metric.key, number_of(run_a, metric.key), number_of(run_b, metric.key)};
    if (numbers.a || numbers.b) pair.numbers.push_back(std::move(numbers));
  }
  return pair;
}

std::vector<CollectivePair> pairs_of(const input::Json& a, const input::Json& b) {
  std::vector<CollectivePair> pairs;
  for (const input::Json& run : a["runs"]) pairs.push_back(pair_of(run["label"], a, b));
  for (const input::Json& run : b["runs"])
    if (find_run(a, run["label"]) == nullptr) pairs.push_back(pair_of(run["label"], a, b));
  return pairs;
}

/// Values of a chip's parameters by name.
input::Json values_of_chip(const input::Json& result) {
  input::Json values = input::Json::object();
  if (!result.contains("parameters")) return values;
  for (const auto& [name, parameter] : result["parameters"].items())
    if (parameter.is_object() && parameter.contains("value")) values[name] = parameter["value"];
  return values;
}

}  // namespace

std::optional<double> NumberPair::ratio() const {
  if (!a || !b || *a == 0.0) return std::nullopt;
  return *b / *a;
}

Comparison compare(const std::string& path_a, const std::string& path_b) {
  const input::Json a = read_result(path_a);
  const input::Json b = read_result(path_b);
  return {.a = path_a,
          .b = path_b,
          .version_a = a["version"].get<std::string>(),
          .version_b = b["version"].get<std::string>(),
          .configuration = config::differences(a["config"], b["config"]),
          .parameters = config::differences(values_of_chip(a), values_of_chip(b)),
          .collectives = pairs_of(a, b)};
}

}  // namespace equarx::compare
