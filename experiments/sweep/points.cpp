#include "experiments/sweep/points.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"

namespace equarx::sweep {
namespace {

std::uint64_t count_combinations(const Sweep& sweep) {
  std::uint64_t count = 1;
  double unbounded = 1.0;
  for (const SweepAxis& axis : sweep.axes) {
    unbounded *= static_cast<double>(axis.steps.size());
    if (unbounded <= static_cast<double>(kMostCombinations)) count *= axis.steps.size();
  }
  if (unbounded > static_cast<double>(kMostCombinations))
    throw input::InputError(
        sweep.pointers.axes,
        fmt::format("make {:.4g} combinations; at most {} are supported, so split "
                    "the sweep or use fewer values",
                    unbounded, kMostCombinations));
  return count;
}

struct Assignment {
  const SweepAxis* axis;
  std::string key;
  input::Json value;
};
using Assignments = std::vector<Assignment>;

/// @throws InputError that names the axis which leads nowhere
input::Json applied(input::Json config, const Assignments& assignments) {
  for (const Assignment& assignment : assignments) {
    try {
      config::set_value(config, assignment.key, assignment.value);
    } catch (const input::InputError& error) {
      throw input::InputError(assignment.axis->place, error.what());
    }
  }
  return config;
}

/// An unknown key is the fault of the axis that makes it, or the base's.
[[noreturn]] void refuse_unknown(const Sweep& sweep, const input::UnknownKeyError& error) {
  const input::Json::json_pointer place(error.place());
  for (const SweepAxis& axis : sweep.axes)
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      const input::Json config =
          applied(sweep.base, {{&axis, axis.keys[k], axis.steps.front()[k]}});
      if (config.contains(place) && !sweep.base->contains(place))
        throw input::InputError(axis.place, error.what());
    }
  throw input::InputError(sweep.pointers.base, error.what());
}

bool makes_no_difference(const input::Json& base, const Assignments& assignments,
                         const input::Json& config) {
  try {
    return applied(base, assignments) == config;
  } catch (const input::InputError&) {  // a later axis needs the value, as it may need a label
    return false;
  }
}

}  // namespace

SweepPoints::SweepPoints(Sweep sweep) : sweep_(std::move(sweep)) {
  const std::uint64_t count = count_combinations(sweep_);
  for (std::uint64_t combination = 0; combination < count; ++combination)
    if (is_excluded(combination))
      ++excluded_;
    else
      combinations_.push_back(combination);
  if (combinations_.empty())
    throw input::InputError(sweep_.pointers.exclude,
                            fmt::format("leaves none of {} points; exclude less", count));
}

std::vector<std::size_t> SweepPoints::steps(std::uint64_t combination) const {
  std::vector<std::size_t> steps(sweep_.axes.size());
  for (std::size_t axis = steps.size(); axis-- > 0;) {
    const std::size_t count = sweep_.axes[axis].steps.size();
    steps[axis] = combination % count;
    combination /= count;
  }
  return steps;
}

bool SweepPoints::is_excluded(std::uint64_t combination) const {
  if (sweep_.exclusions.empty()) return false;
  const std::vector<std::size_t> at = steps(combination);
  return std::ranges::any_of(sweep_.exclusions, [&](const SweepExclusion& exclusion) {
    return std::ranges::all_of(exclusion, [&](const SweepCondition& condition) {
      return condition.holds[at[condition.axis]];
    });
  });
}

std::vector<std::string> SweepPoints::axis_keys() const {
  std::vector<std::string> keys;
  for (const SweepAxis& axis : sweep_.axes)
    keys.insert(keys.end(), axis.keys.begin(), axis.keys.end());
  return keys;
}

input::Json SweepPoints::axes(std::size_t point) const {
  const std::vector<std::size_t> at = steps(combinations_.at(point));
  input::Json json = input::Json::object();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const SweepAxis& axis = sweep_.axes[i];
    for (std::size_t k = 0; k < axis.keys.size(); ++k) json[axis.keys[k]] = axis.steps[at[i]][k];
  }
  return json;
}

input::Json SweepPoints::config(std::size_t point) const {
  input::Json config = sweep_.base;
  const input::Json values = axes(point);
  for (const auto& [pointer, value] : values.items()) config::set_value(config, pointer, value);
  return config;
}

void SweepPoints::check() const {
  check_axes_hold();
  std::optional<std::string> first;
  for (std::size_t point = 0; point < size(); ++point) {
    try {
      config::read_config(config(point));
      return;
    } catch (const input::UnknownKeyError& error) {
      refuse_unknown(sweep_, error);
    } catch (const input::InputError& error) {
      if (!first) first = error.what();
    }
  }
  throw input::InputError(
      "", fmt::format("no point of the sweep is a configuration; of the first one: {}", *first));
}

/// Setting one key can remove another, as /tensor/bytes does /tensor/shape. Whatever value the first has
/// then makes no difference.
void SweepPoints::check_axes_hold() const {
  const std::vector<std::size_t> at = steps(combinations_.front());
  Assignments all;
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t k = 0; k < sweep_.axes[i].keys.size(); ++k)
      all.push_back({&sweep_.axes[i], sweep_.axes[i].keys[k], sweep_.axes[i].steps[at[i]][k]});
  const input::Json config = applied(sweep_.base, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Assignments other = all;
    other[i].value = "another value";
    if (makes_no_difference(sweep_.base, other, config))
      throw input::InputError(
          all[i].axis->place,
          fmt::format("{} is undone by a later axis; a configuration has only one of "
                      "them, so sweep over the object that holds both",
                      all[i].key));
  }
}

}  // namespace equarx::sweep
