#include "experiments/sweep/points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/set_value.hpp"
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

/// @throws InputError that names an axis that does not exist in `config`
input::Json applied(input::Json config, const Assignments& assignments) {
  for (const Assignment& assignment : assignments)
    input::within(assignment.axis->pointer,
                  [&] { config::set_value(config, assignment.key, assignment.value); });
  return config;
}

/// Attributes an unknown key to the axis that creates it, or else to the base.
[[noreturn]] void refuse_unknown(const Sweep& sweep, const input::UnknownKeyError& error) {
  const input::Json::json_pointer pointer(error.pointer());
  for (const SweepAxis& axis : sweep.axes)
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      const input::Json config =
          applied(sweep.base, {{&axis, axis.keys[k], axis.steps.front()[k]}});
      if (config.contains(pointer) && !sweep.base->contains(pointer))
        throw input::InputError(axis.pointer, error.what());
    }
  throw input::InputError(sweep.pointers.base, error.what());
}

bool makes_no_difference(const input::Json& base, const Assignments& assignments,
                         const input::Json& config) {
  try {
    return applied(base, assignments) == config;
  } catch (const input::InputError&) {  // a later axis depends on the value, for example on a label
    return false;
  }
}

/// Finds axis values with which no point is a valid configuration, so that they can be reported
/// before anything runs. Values that are invalid only in some combinations are accepted.
class ValueCheck {
 public:
  explicit ValueCheck(const Sweep& sweep) : sweep_(sweep) {
    for (const SweepAxis& axis : sweep.axes) {
      values_.emplace_back(axis.steps.size());
      open_ += axis.steps.size();
    }
  }

  bool none_is_valid() const { return !any_valid_; }
  bool done() const { return any_valid_ && open_ == 0; }
  /// True if trying the point with these steps of the axes can change the outcome.
  bool is_informative(const std::vector<std::size_t>& at) const {
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if (values_[axis][at[axis]].is_open()) return true;
    return !any_valid_;
  }

  void note_valid(const std::vector<std::size_t>& at) {
    any_valid_ = true;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      Value& value = values_[axis][at[axis]];
      if (value.is_open()) --open_;
      value.valid = true;
    }
  }

  void note_invalid(const std::vector<std::size_t>& at, const std::string& reason) {
    if (first_.empty()) first_ = reason;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      Value& value = values_[axis][at[axis]];
      if (value.tries == 0) value.reason = reason;
      const bool was_open = value.is_open();
      ++value.tries;
      if (was_open && !value.is_open()) --open_;
    }
  }

  /// @throws InputError that names the axis, its value, and the error of the first point that has
  /// it
  void refuse_invalid() const {
    if (!any_valid_)
      throw input::InputError(
          "",
          fmt::format("no point of the sweep is a valid configuration; the first one: {}", first_));
    for (std::size_t axis = 0; axis < values_.size(); ++axis)
      for (std::size_t step = 0; step < values_[axis].size(); ++step) {
        const Value& value = values_[axis][step];
        if (value.valid || value.tries == 0) continue;  // excluded if never tried
        throw input::InputError(sweep_.axes[axis].pointer,
                                fmt::format("no point with {} is a valid configuration: {}",
                                            sweep_.axes[axis].step_text(step), value.reason));
      }
  }

 private:
  // Limits the time before a large sweep starts.
  static constexpr std::size_t kMostTries = 1000;

  struct Value {
    bool valid = false;
    std::size_t tries = 0;  ///< number of invalid points with this value
    std::string reason;     ///< error of the first of these
    bool is_open() const { return !valid && tries < kMostTries; }
  };

  const Sweep& sweep_;
  std::vector<std::vector<Value>> values_;  ///< by axis and step
  std::size_t open_ = 0;
  bool any_valid_ = false;
  std::string first_;  ///< error of the first invalid point
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
                            fmt::format("excludes all {} points; exclude fewer", count));
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
    if (!values.is_informative(at)) continue;
    try {
      config::read_any_config(config(point));
      values.note_valid(at);
    } catch (const input::UnknownKeyError& error) {
      if (values.none_is_valid()) refuse_unknown(sweep_, error);
      values.note_invalid(at, error.what());
    } catch (const input::InputError& error) {
      values.note_invalid(at, error.what());
    }
  }
  values.refuse_invalid();
}

/// Setting one key can remove another, as /tensor/bytes does /tensor/shape; the value of the first
/// then has no effect.
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
          all[i].axis->pointer,
          fmt::format("{} is overridden by a later axis; a configuration has only one of "
                      "them, so vary the object that contains both",
                      all[i].key));
  }
}

}  // namespace equarx::sweep
