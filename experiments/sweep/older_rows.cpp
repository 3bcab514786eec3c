#include "experiments/sweep/older_rows.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/set_value.hpp"

namespace equarx::sweep {
namespace {

/// Differences of a line's configuration to the configuration of its point with the current base.
std::vector<config::Difference> differences_to(const input::Json& base, const input::Json& line) {
  try {
    input::Json now = base;
    for (const auto& [pointer, value] : line.at("axes").items())
      config::set_value(now, pointer, value);
    return config::differences(line.at("config"), config::read_any_config(now).resolved);
  } catch (const input::InputError&) {  // the current base has no such point
    return {};
  }
}

/// Points of the store that are not among `keyed`, in the order of its file.
std::vector<StoredPoint> others(const std::vector<KeyedPoint>& keyed, const SweepStore& store) {
  std::set<std::string> known;
  for (const KeyedPoint& at : keyed) known.insert(at.key);
  std::vector<StoredPoint> found;
  for (const auto& [key, stored] : store.points())
    if (!known.contains(key)) found.push_back(stored);
  std::ranges::sort(found, {}, &StoredPoint::offset);
  return found;
}

}  // namespace

OlderRows older_rows(const SweepPoints& points, const std::vector<KeyedPoint>& keyed,
                     const SweepStore& store) {
  OlderRows older;
  const std::vector<StoredPoint> candidates = others(keyed, store);
  if (candidates.empty()) return older;
  std::set<std::string> axes;
  for (const KeyedPoint& at : keyed) axes.insert(points.axes(at.point).dump());
  input::Json last;
  for (const StoredPoint& stored : candidates) {
    const std::vector<input::JsonValue> lines = store.results(stored);
    const input::Json& line = lines.front();
    if (line.value("base", "") != points.base()) {
      older.of_other_bases += lines.size();
      if (stored.state == PointState::computed) last = line;
    } else if (axes.contains(line.at("axes").dump())) {
      older.of_other_files += lines.size();
    }
  }
  if (!last.is_null()) older.differences = differences_to(points.sweep().base, last);
  return older;
}

}  // namespace equarx::sweep
