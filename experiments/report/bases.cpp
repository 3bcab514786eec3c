#include "experiments/report/bases.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/differences.hpp"

namespace equarx::report {
namespace {

/// Values of the configurations of one base, by JSON pointer.
struct Base {
  input::Json values;            ///< of the first configuration
  std::set<std::string> varied;  ///< pointers with different values in the configurations
};
using Bases = std::map<std::string, Base>;

void add(Base& base, const input::Json& config) {
  const input::Json values = config::flat(config);
  if (base.values.is_null()) base.values = values;
  for (const auto& [pointer, value] : values.items()) {
    const auto first = base.values.find(pointer);
    if (first == base.values.end() || *first != value) base.varied.insert(pointer);
  }
  for (const auto& [pointer, value] : base.values.items())
    if (!values.contains(pointer)) base.varied.insert(pointer);
}

Bases bases_of(const ReportResults& results) {
  Bases bases;
  for (const ReportSource& source : results.sources)
    if (!source.base.empty() && source.config->is_object()) add(bases[source.base], source.config);
  return bases;
}

/// True if all bases have the collective that a pointer refers to, if any.
bool is_in_all(const std::string& pointer, const Bases& bases) {
  constexpr std::string_view kCollectives = "/collectives/";
  if (!pointer.starts_with(kCollectives)) return true;
  const std::string start = pointer.substr(0, pointer.find('/', kCollectives.size()) + 1);
  return std::ranges::all_of(bases, [&](const Bases::value_type& base) {
    bool has = false;
    for (const auto& value : base.second.values.items())
      has = has || value.key().starts_with(start);
    return has;
  });
}

/// True if every base has a single value, or none, at a pointer, and these differ.
bool differs(const std::string& pointer, const Bases& bases) {
  std::set<std::string> texts;
  for (const auto& [name, base] : bases) {
    if (base.varied.contains(pointer)) return false;
    const auto value = base.values.find(pointer);
    texts.insert(value == base.values.end() ? "" : value->dump());
  }
  return texts.size() > 1;
}

/// True if an axis of some row sets the value at a pointer.
bool is_set_by_axis(const std::string& pointer, const std::set<std::string>& axes) {
  return std::ranges::any_of(axes, [&](const std::string& axis) {
    return pointer == axis || pointer.starts_with(axis + "/");
  });
}

std::set<std::string> axes_of(const ReportResults& results) {
  std::set<std::string> axes;
  for (const ReportRow& row : results.rows)
    for (const auto& axis : row.axes->items()) axes.insert(axis.key());
  return axes;
}

/// Pointers in which the bases differ, in the order of the configurations.
std::vector<std::string> differing_pointers(const ReportResults& results, const Bases& bases) {
  const std::set<std::string> axes = axes_of(results);
  std::vector<std::string> pointers;
  for (const auto& [name, base] : bases)
    for (const auto& value : base.values.items()) {
      const std::string& pointer = value.key();
      if (std::ranges::find(pointers, pointer) == pointers.end() && differs(pointer, bases) &&
          is_in_all(pointer, bases) && !is_set_by_axis(pointer, axes))
        pointers.push_back(pointer);
    }
  return pointers;
}

}  // namespace

void add_axes_of_bases(ReportResults& results) {
  const Bases bases = bases_of(results);
  if (bases.size() < 2) return;
  const std::vector<std::string> pointers = differing_pointers(results, bases);
  for (ReportRow& row : results.rows) {
    // A failed point has no configuration, but other points of its base may have one.
    const auto base = bases.find(results.sources[row.source].base);
    if (base == bases.end()) continue;
    for (const std::string& pointer : pointers)
      if (base->second.values.contains(pointer))
        (*row.axes)[pointer] = base->second.values[pointer];
  }
}

}  // namespace equarx::report
