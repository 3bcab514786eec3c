#include "experiments/compare/report.hpp"

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/result/all_metrics.hpp"

namespace equarx::compare {
namespace {

/// A number as people read it.
std::string number_text(result::Unit unit, double value) {
  switch (unit) {
    case result::Unit::time: return units::time_text(value);
    case result::Unit::bytes: return units::bytes_text(value);
    case result::Unit::energy: return units::format_short(value, units::Dimension::energy);
    case result::Unit::speedup: return fmt::format("{:.3f}x", value);
    case result::Unit::decibel: return fmt::format("{:.2f} dB", value);
    default: return fmt::format("{:.3g}", value);
  }
}

std::string value_text(const input::Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string differences_table(const std::vector<config::Difference>& differences,
                              const std::string& heading) {
  std::vector<output::TableRow> rows = {{heading, "A", "B"}};
  for (const config::Difference& difference : differences)
    rows.push_back({difference.pointer, value_text(difference.a), value_text(difference.b)});
  return output::aligned_table(rows);
}

/// Decibels are subtracted, because they are already ratios.
std::string ratio_text(result::Unit unit, const NumberPair& pair) {
  if (unit == result::Unit::decibel)
    return pair.a && pair.b ? fmt::format("{:+.2f} dB", *pair.b - *pair.a) : "-";
  const std::optional<double> ratio = pair.ratio();
  return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

std::string numbers_table(const std::vector<CollectivePair>& collectives) {
  std::vector<output::TableRow> rows = {{"collective", "", "A", "B", "B / A"}};
  for (const CollectivePair& collective : collectives)
    for (const NumberPair& pair : collective.numbers) {
      const result::MetricInfo& metric = *result::find_metric(pair.name);
      const auto text = [&](const std::optional<double>& value) {
        return value ? number_text(metric.unit, *value) : "-";
      };
      const bool is_first = &pair == &collective.numbers.front();
      rows.push_back({is_first ? collective.label : "", result::title_of(metric), text(pair.a),
                      text(pair.b), ratio_text(metric.unit, pair)});
    }
  return output::aligned_table(rows);
}

std::string notes(const Comparison& comparison) {
  std::string text;
  if (comparison.version_a != comparison.version_b)
    text += fmt::format("  Computed by different program versions: {} and {}.\n",
                        comparison.version_a, comparison.version_b);
  for (const CollectivePair& collective : comparison.collectives)
    if (!collective.in_a || !collective.in_b)
      text += fmt::format("  Only {} has the collective '{}'.\n", collective.in_a ? "A" : "B",
                          collective.label);
  return text.empty() ? text : fmt::format("\n{}", text);
}

input::Json differences_json(const std::vector<config::Difference>& differences) {
  input::Json json = input::Json::array();
  for (const config::Difference& difference : differences)
    json.push_back({{"pointer", difference.pointer}, {"a", *difference.a}, {"b", *difference.b}});
  return json;
}

}  // namespace

std::string to_table(const Comparison& comparison) {
  std::string text = fmt::format("A: {}\nB: {}\n\n", comparison.a, comparison.b);
  if (comparison.configuration.empty())
    text += "  The configurations are the same.\n";
  else
    text += differences_table(comparison.configuration, "configuration");
  if (!comparison.parameters.empty())
    text += fmt::format("\n{}", differences_table(comparison.parameters, "chip parameter"));
  return fmt::format("{}\n{}{}", text, numbers_table(comparison.collectives), notes(comparison));
}

input::Json to_json(const Comparison& comparison) {
  input::Json json = {{"a", {{"file", comparison.a}, {"version", comparison.version_a}}},
                      {"b", {{"file", comparison.b}, {"version", comparison.version_b}}},
                      {"configuration", differences_json(comparison.configuration)},
                      {"parameters", differences_json(comparison.parameters)},
                      {"collectives", input::Json::array()}};
  for (const CollectivePair& collective : comparison.collectives) {
    input::Json one = {{"label", collective.label},
                       {"in_a", collective.in_a},
                       {"in_b", collective.in_b},
                       {"numbers", input::Json::array()}};
    for (const NumberPair& pair : collective.numbers)
      one["numbers"].push_back({{"name", pair.name},
                                {"a", input::or_null(pair.a)},
                                {"b", input::or_null(pair.b)},
                                {"ratio", input::or_null(pair.ratio())}});
    json["collectives"].push_back(std::move(one));
  }
  return json;
}

}  // namespace equarx::compare
