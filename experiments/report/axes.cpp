#include "experiments/report/axes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"

namespace equarx::report {
namespace {

/// False for label and settings of a collective, which have columns of their own.
bool distinguishes_experiments(const std::string& pointer) {
  return !pointer.starts_with("/collectives/") && !pointer.starts_with("/variants/") &&
         pointer != "/baseline";
}

/// Sources with a configuration, by the axes of their rows.
std::map<std::string, std::set<std::size_t>> sources_by_axes(const ReportResults& results) {
  std::map<std::string, std::set<std::size_t>> sources;
  for (const ReportRow& row : results.rows)
    if (results.sources[row.source].config->is_object())
      sources[input::json_text(*row.axes)].insert(row.source);
  return sources;
}

/// JSON pointers with different values, or missing in some configurations, in the order of these.
std::vector<std::string> differing_pointers(const ReportResults& results,
                                            const std::set<std::size_t>& sources) {
  std::vector<std::string> pointers;
  struct Seen {
    input::Json value;
    std::size_t count = 0;
    bool differs = false;
  };
  std::map<std::string, Seen> seen;
  for (const std::size_t source : sources) {
    const input::Json leaves = results.sources[source].config->flatten();
    for (const auto& [pointer, value] : leaves.items()) {
      Seen& entry = seen[pointer];
      if (entry.count++ == 0) {
        entry.value = value;
        pointers.push_back(pointer);
      }
      entry.differs = entry.differs || entry.value != value;
    }
  }
  std::erase_if(pointers, [&](const std::string& pointer) {
    const Seen& entry = seen[pointer];
    return !distinguishes_experiments(pointer) || (!entry.differs && entry.count == sources.size());
  });
  return pointers;
}

std::vector<std::string> all_axes(const ReportResults& results) {
  std::vector<std::string> pointers;
  const auto add = [&](const std::string& pointer) {
    if (std::ranges::find(pointers, pointer) == pointers.end()) pointers.push_back(pointer);
  };
  for (const ReportRow& row : results.rows)
    for (const auto& axis : row.axes->items()) add(axis.key());
  for (const auto& [axes, sources] : sources_by_axes(results))
    if (sources.size() > 1)
      for (const std::string& pointer : differing_pointers(results, sources)) add(pointer);
  return pointers;
}

/// Returns the value at a pointer; std::nullopt if absent.
std::optional<input::Json> value_at(const input::Json& config, const std::string& pointer) {
  try {
    return config.at(input::Json::json_pointer(pointer));
  } catch (
      const input::Json::exception&) {  // an axis of another configuration, or no pointer at all
  }
  return std::nullopt;
}

constexpr std::string_view kCollectives = "/collectives/";

/// Returns the label of the collective that an axis refers to; std::nullopt if to all, or if
/// unknown.
std::optional<std::string> collective_of(const std::string& pointer, const ReportRow& row,
                                         const input::Json& config) {
  if (!pointer.starts_with(kCollectives)) return std::nullopt;
  const std::size_t end = pointer.find('/', kCollectives.size());
  const std::string name = pointer.substr(kCollectives.size(), end - kCollectives.size());
  // An axis may rename the collective.
  const auto renamed = row.axes->find(fmt::format("{}{}/label", kCollectives, name));
  if (renamed != row.axes->end() && renamed->is_string()) return renamed->get<std::string>();
  const auto collectives = config.find("collectives");
  if (collectives == config.end() || !collectives->is_array()) return std::nullopt;
  for (std::size_t i = 0; i < collectives->size(); ++i) {
    const input::Json& collective = (*collectives)[i];
    if (!collective.is_object()) return std::nullopt;  // not written by this program
    const input::Json& label = collective.value("label", input::Json());
    if (label.is_string() && (label == name || std::to_string(i) == name))
      return label.get<std::string>();
  }
  return std::nullopt;
}

void drop_axes_of_others(ReportRow& row, const input::Json& config) {
  if (!row.run->is_object() || !config.is_object()) return;
  std::vector<std::string> others;
  for (const auto& axis : row.axes->items()) {
    const auto label = collective_of(axis.key(), row, config);
    if (label && row.run->value("label", "") != *label) others.push_back(axis.key());
  }
  for (const std::string& pointer : others) row.axes->erase(pointer);
}

/// "512 x 1024" for numbers, "a, b" for other values.
std::string list_in_words(const input::Json& list) {
  const bool is_numbers =
      std::ranges::all_of(list, [](const input::Json& entry) { return entry.is_number(); });
  std::vector<std::string> words;
  for (const input::Json& entry : list) words.push_back(in_words(entry));
  return fmt::format("{}", fmt::join(words, is_numbers ? " x " : ", "));
}

}  // namespace

std::string in_words(const input::Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.empty() || !value.is_structured()) return input::json_text(value);
  if (value.is_array()) return list_in_words(value);
  std::vector<std::string> words;
  for (const auto& [key, entry] : value.items())
    words.push_back(fmt::format("{} {}", key, in_words(entry)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string axis_text(const std::string& pointer, const input::Json& value,
                      const input::Json& config) {
  if (!value.is_object() || !value.empty()) return in_words(value);
  const std::optional<input::Json> defaults = value_at(config, pointer);
  return defaults && !defaults->empty() ? in_words(*defaults) : "on";
}

void complete_axes(ReportResults& results) {
  const std::vector<std::string> pointers = all_axes(results);
  for (ReportRow& row : results.rows)
    for (const std::string& pointer : pointers) {
      if (row.axes->contains(pointer)) continue;
      if (auto value = value_at(results.sources[row.source].config, pointer))
        (*row.axes)[pointer] = std::move(*value);
    }
  for (ReportRow& row : results.rows) drop_axes_of_others(row, results.sources[row.source].config);
}

}  // namespace equarx::report
