#include "experiments/config/differences.hpp"

#include <algorithm>

#include "base/input/json.hpp"

namespace equarx::config {
namespace {

/// True if every element has a label and no two labels are equal.
bool all_labelled(const input::Json& list) {
  std::vector<std::string> labels;
  for (const input::Json& element : list) {
    if (!element.is_object() || !element.contains("label") || !element["label"].is_string())
      return false;
    labels.push_back(element["label"].get<std::string>());
  }
  std::ranges::sort(labels);
  return std::ranges::adjacent_find(labels) == labels.end();
}

}  // namespace

input::Json flat(const input::Json& config) {
  if (!config.is_object() || !config.contains("collectives") || !config["collectives"].is_array() ||
      !all_labelled(config["collectives"]))
    return config.flatten();
  input::Json by_label = input::Json::object();
  for (input::Json collective : config["collectives"]) {
    const std::string label = collective["label"].get<std::string>();
    collective.erase("label");
    by_label[label] = std::move(collective);
  }
  input::Json named = config;
  named["collectives"] = std::move(by_label);
  return named.flatten();
}

std::vector<Difference> differences(const input::Json& a, const input::Json& b) {
  const input::Json flat_a = flat(a);
  const input::Json flat_b = flat(b);
  std::vector<Difference> found;
  for (const auto& [pointer, value] : flat_a.items()) {
    const auto other = flat_b.find(pointer);
    if (other == flat_b.end())
      found.push_back({pointer, value, {}});
    else if (*other != value)
      found.push_back({pointer, value, *other});
  }
  for (const auto& [pointer, value] : flat_b.items())
    if (!flat_a.contains(pointer)) found.push_back({pointer, {}, value});
  return found;
}

}  // namespace equarx::config
