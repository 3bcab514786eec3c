#include "experiments/tune_layouts/space.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "models/steps/model_parts.hpp"
#include "models/steps/training_operations.hpp"

namespace equarx::tune_layouts {
namespace {

using Lengths = std::vector<std::uint32_t>;

constexpr const char* kAxesOption = "--axes";
constexpr const char* kLayoutOption = "--layout";

Lengths divisors(std::uint32_t number) {
  Lengths all;
  for (std::uint32_t one = 1; one <= number; ++one)
    if (number % one == 0) all.push_back(one);
  return all;
}

std::string axis_names() {
  std::vector<std::string_view> names;
  for (const LayoutAxis& axis : kLayoutAxes) names.push_back(axis.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_axis(const char* option, const std::string& name) {
  if (std::ranges::find(kLayoutAxes, name, &LayoutAxis::name) == kLayoutAxes.end())
    throw input::InputError(option,
                            fmt::format("'{}' is no axis of training; use {}", name, axis_names()));
}

steps::Degrees degrees_of(const Layout& layout) {
  return steps::degrees({.machine = {}, .axes = mesh_axes(layout)});
}

/// Enumerates layouts.
class Space {
 public:
  Space(const config::StepConfig& config, const SpaceOptions& options)
      : config_(config), own_(layout_of(config)), options_(options) {
    for (std::size_t axis = 0; axis < kLayoutAxes.size(); ++axis)
      choices_.push_back(choices_of(axis));
  }

  std::vector<Layout> all() && {
    add_lengths(0, config_.mesh.chips(), {});
    return std::move(layouts_);
  }

 private:
  /// Lengths of an axis that the options and the model permit.
  Lengths choices_of(std::size_t axis) const {
    const std::string name(kLayoutAxes[axis].name);
    const std::uint32_t chips = config_.mesh.chips();
    if (const auto fixed = options_.fixed.find(name); fixed != options_.fixed.end()) {
      if (chips % fixed->second != 0)
        throw input::InputError(
            kLayoutOption, fmt::format("{} {} does not divide {} chips; use {}", name,
                                       fixed->second, chips, fmt::join(divisors(chips), ", ")));
      return {fixed->second};
    }
    const bool left_out =
        !options_.axes.empty() && std::ranges::find(options_.axes, name) == options_.axes.end();
    if (left_out) return {1};
    if (name == "expert" && !config_.training->training.model.experts) return {1};
    return divisors(chips);
  }

  void add_lengths(std::size_t axis, std::uint32_t chips, Layout layout) {
    if (axis == kLayoutAxes.size()) {
      if (chips == 1) add_microbatches(layout);
      return;
    }
    for (const std::uint32_t length : choices_[axis]) {
      if (chips % length != 0) continue;
      layout.lengths[axis] = length;
      add_lengths(axis + 1, chips / length, layout);
    }
  }

  void add_microbatches(Layout layout) {
    const std::uint64_t batch = config_.training->training.batch;
    Lengths counts;
    for (std::uint32_t count = 1; count <= batch; count *= 2) counts.push_back(count);
    if (std::ranges::find(counts, own_.microbatches) == counts.end())
      counts.push_back(own_.microbatches);
    for (const std::uint32_t count : counts) {
      layout.microbatches = count;
      if (is_possible(layout)) add_schedules(layout);
    }
  }

  /// True if the model and the batch can be divided, with any schedule.
  bool is_possible(const Layout& layout) const {
    try {
      const steps::Training training = training_of(config_, layout);
      const steps::Degrees degrees = degrees_of(layout);
      steps::rows_of_chip(training, degrees);
      steps::training_operations(training, degrees);
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  }

  void add_schedules(Layout layout) {
    const std::uint32_t stages = layout.length("pipeline");
    const std::uint32_t layers = config_.training->training.model.layers;
    layout.chunks = 1;
    layout.schedule = steps::PipelineKind::one_forward_one_backward;
    if (stages > layers) return;
    add_methods(layout);
    if (stages == 1) return;
    layout.schedule = steps::PipelineKind::zero_bubble;
    add_methods(layout);
    layout.schedule = steps::PipelineKind::interleaved;
    if (layout.microbatches % stages != 0) return;
    for (layout.chunks = 2; stages * layout.chunks <= layers; layout.chunks *= 2)
      add_methods(layout);
  }

  void add_methods(Layout layout) {
    using steps::ContextMethod;
    for (const ContextMethod method :
         {ContextMethod::ring, ContextMethod::all_gather, ContextMethod::all_to_all}) {
      layout.context = method;
      if (layout.length("context") == 1) layout.context = own_.context;
      // Heads must divide over the chips that exchange them.
      if (method == ContextMethod::ring || is_possible(layout)) add_states(layout);
      if (layout.length("context") == 1) return;
    }
  }

  void add_states(Layout layout) {
    const bool replicated = degrees_of(layout).dense_replicas() > 1;
    for (const bool sharded : {false, true}) {
      if (sharded && !replicated) continue;
      layout.distributed_optimizer = sharded;
      std::vector<steps::Remat> policies = {own_.remat};
      for (const steps::Remat& policy : {steps::Remat{}, steps::kFullRemat})
        if (policy != own_.remat) policies.push_back(policy);
      for (const steps::Remat& policy : policies) {
        layout.remat = policy;
        layouts_.push_back(layout);
      }
    }
  }

  const config::StepConfig& config_;
  Layout own_;
  const SpaceOptions& options_;
  std::vector<Lengths> choices_;  ///< by axis
  std::vector<Layout> layouts_;
};

}  // namespace

std::map<std::string, std::uint32_t> read_fixed(const std::vector<std::string>& texts) {
  std::map<std::string, std::uint32_t> fixed;
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    check_axis(kLayoutOption, name);
    std::uint32_t length = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(std::min(text.data() + equals + 1, end), end, length);
    if (read.ec != std::errc{} || read.ptr != end || length == 0)
      throw input::InputError(kLayoutOption,
                              fmt::format("'{}' is not a length of an axis, like tensor=4", text));
    if (!fixed.emplace(name, length).second)
      throw input::InputError(kLayoutOption, fmt::format("'{}' is given twice", name));
  }
  return fixed;
}

std::vector<Layout> layouts(const config::StepConfig& config, const SpaceOptions& options) {
  for (const std::string& axis : options.axes) check_axis(kAxesOption, axis);
  std::vector<Layout> all = Space(config, options).all();
  if (!all.empty()) return all;
  const steps::Training& training = config.training->training;
  throw input::InputError(
      options.fixed.empty() && !options.axes.empty() ? kAxesOption : kLayoutOption,
      fmt::format(
          "no lengths of the axes multiply to {} chips and divide {} and {} sequences; name "
          "more axes, or fix fewer",
          config.mesh.chips(), training.model.name, training.batch));
}

steps::DeviceOrder device_order(const input::Json& json) {
  const auto order = json["mesh"].find("order");
  if (order == json["mesh"].end() || order->is_object() || order->is_number())
    return steps::DeviceOrder::jax;
  if (order->is_array())
    throw input::InputError("/mesh/order",
                            "lists the chips of one layout; use \"machine\" or \"jax\"");
  return *order == "machine" ? steps::DeviceOrder::machine : steps::DeviceOrder::jax;
}

}  // namespace equarx::tune_layouts
