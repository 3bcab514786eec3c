#include "experiments/sweep/points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "experiments/config/any_config.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/sweep/key.hpp"

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

/// Finds values of axes with which no point is a configuration: mistakes that can be told before anything
/// runs. Values that only go ill with some of another axis are none.
class ValueCheck {
 public:
  explicit ValueCheck(const Sweep& sweep) : sweep_(sweep) {
    for (const SweepAxis& axis : sweep.axes) {
      values_.emplace_back(axis.steps.size());
      open_ += axis.steps.size();
    }
  }

  bool none_is_good() const { return !any_good_; }
  bool done() const { return any_good_ && open_ == 0; }
  /// Whether a point, by the step of each axis, can tell something.
  bool wants(const std::vector<std::size_t>& at) const {
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (values_[axis][at[axis]].is_open()) return true;
    return !any_good_;
  }

  void note_good(const std::vector<std::size_t>& at) {
    any_good_ = true;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      Value& value = values_[axis][at[axis]];
      if (value.is_open()) --open_;
      value.good = true;
    }
  }

  void note_bad(const std::vector<std::size_t>& at, const std::string& reason) {
    if (first_.empty()) first_ = reason;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      Value& value = values_[axis][at[axis]];
      if (value.tries == 0) value.reason = reason;
      const bool was_open = value.is_open();
      ++value.tries;
      if (was_open && !value.is_open()) --open_;
    }
  }

  /// @throws InputError that names the axis, its value, and what is wrong with the first point that has it
  void refuse_bad() const {
    if (!any_good_)
      throw input::InputError(
          "",
          fmt::format("no point of the sweep is a configuration; of the first one: {}", first_));
    for (std::size_t axis = 0; axis < values_.size(); ++axis)
      for (std::size_t step = 0; step < values_[axis].size(); ++step) {
        const Value& value = values_[axis][step];
        if (value.good || value.tries == 0) continue;  // without tries it is excluded
        throw input::InputError(sweep_.axes[axis].place,
                                fmt::format("no point with {} is a configuration: {}",
                                            sweep_.axes[axis].step_text(step), value.reason));
      }
  }

 private:
  // So that a large sweep begins soon; who has seen so many fail need not see all.
  static constexpr std::size_t kMostTries = 1000;

  struct Value {
    bool good = false;
    std::size_t tries = 0;  ///< points with it that are no configurations
    std::string reason;     ///< of the first of these
    bool is_open() const { return !good && tries < kMostTries; }
  };

  const Sweep& sweep_;
  std::vector<std::vector<Value>> values_;  ///< by axis and step
  std::size_t open_ = 0;
  bool any_good_ = false;
  std::string first_;  ///< reason
};

}  // namespace

SweepPoints::SweepPoints(Sweep sweep)
    : sweep_(std::move(sweep)), base_(SweepKeys::base(sweep_.base)) {
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
  ValueCheck values(sweep_);
  for (std::size_t point = 0; point < size() && !values.done(); ++point) {
    const std::vector<std::size_t> at = steps(combinations_[point]);
    if (!values.wants(at)) continue;
    try {
      config::read_any_config(config(point));
      values.note_good(at);
    } catch (const input::UnknownKeyError& error) {
      if (values.none_is_good()) refuse_unknown(sweep_, error);
      values.note_bad(at, error.what());
    } catch (const input::InputError& error) {
      values.note_bad(at, error.what());
    }
  }
  values.refuse_bad();
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
