#include "experiments/report/axes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/input/json.hpp"

namespace equarx::report {
namespace {

/// What a run is called and how its collective is set is in columns of its own.
bool tells_experiments_apart(const std::string& pointer) {
  return !pointer.starts_with("/collectives/") && pointer != "/baseline";
}

std::set<std::size_t> sources_without_axes(const ReportResults& results) {
  std::set<std::size_t> sources;
  for (const ReportRow& row : results.rows)
    if (row.axes->empty() && results.sources[row.source].config->is_object())
      sources.insert(row.source);
  return sources;
}

/// JSON pointers, in the order of the configurations, whose values differ or are not in all of them.
std::vector<std::string> differing_pointers(const ReportResults& results) {
  const std::set<std::size_t> sources = sources_without_axes(results);
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
    return !tells_experiments_apart(pointer) || (!entry.differs && entry.count == sources.size());
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
  for (const std::string& pointer : differing_pointers(results)) add(pointer);
  return pointers;
}

/// The value there, if it is one that can stand in a column.
std::optional<input::Json> value_at(const input::Json& config, const std::string& pointer) {
  try {
    const input::Json& value = config.at(input::Json::json_pointer(pointer));
    if (!value.is_structured()) return value;
  } catch (
      const input::Json::exception&) {  // an axis of another configuration, or no pointer at all
  }
  return std::nullopt;
}

}  // namespace

void complete_axes(ReportResults& results) {
  const std::vector<std::string> pointers = all_axes(results);
  for (ReportRow& row : results.rows)
    for (const std::string& pointer : pointers) {
      if (row.axes->contains(pointer)) continue;
      if (auto value = value_at(results.sources[row.source].config, pointer))
        (*row.axes)[pointer] = std::move(*value);
    }
}

}  // namespace equarx::report
