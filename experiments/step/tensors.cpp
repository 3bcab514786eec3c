#include "experiments/step/tensors.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/input/errors.hpp"

namespace equarx::step {
namespace {

using input::InputError;

/// @throws InputError if the values of a collective are not computed whole
void check_values(const config::StepConfig& config) {
  if (config.calls.empty())
    throw InputError(config.compared ? "/workload" : "/step",
                     "has no collectives, so there are no tensors to write");
  if (config.compared) return run::check_whole(config.compared->tensor, config.compared->numerics);
  if (std::ranges::none_of(config.values, [](const auto& tensor) { return tensor.has_value(); }))
    throw InputError(
        "/values", "is missing, so there are no tensors to write; add it, like [{\"sample\": 1}]");
  for (std::size_t call = 0; call < config.calls.size(); ++call)
    if (config.values[call] && config.values[call]->sample < 1.0)
      throw InputError("/values", fmt::format("the tensors of '{}' are only partly computed; add "
                                              "\"sample\": 1 to their rule to write them",
                                              config.calls[call].group));
}

/// "GROUP", or "GROUP 2" for the second of several collectives of a group.
std::string set_name(const std::vector<config::StepCall>& calls, std::size_t call) {
  const std::string& group = calls[call].group;
  if (std::ranges::count(calls, group, &config::StepCall::group) == 1) return group;
  const auto end = calls.begin() + static_cast<std::ptrdiff_t>(call) + 1;
  return fmt::format("{} {}", group,
                     std::ranges::count(calls.begin(), end, group, &config::StepCall::group));
}

/// Index of the first variant that runs a collective as planned.
std::size_t first_variant(const StepPlan& plan, std::size_t call,
                          const plan::CollectivePlan& planned) {
  const auto found = std::ranges::find_if(plan.variants, [&](const VariantPlan& variant) {
    return &variant.calls[call]->plan == &planned;
  });
  return static_cast<std::size_t>(found - plan.variants.begin());
}

run::TensorSet tensor_set(const StepPlan& plan, std::size_t call) {
  const config::StepConfig& config = plan.config;
  run::TensorSet set{.group = set_name(config.calls, call),
                     .tensor = &*config.values[call],
                     .collective = config.calls[call].call.collective,
                     .ranks = plan.variants.front().calls[call]->plan.program.ranks(),
                     .labels = {},
                     .index_of = [&plan, call](const plan::CollectivePlan& planned) {
                       return first_variant(plan, call, planned);
                     }};
  for (std::size_t i = 0; i < plan.variants.size(); ++i) {
    set.labels.push_back(config.variants[i].label);
    set.same_as.push_back(set.index_of(plan.variants[i].calls[call]->plan));
  }
  return set;
}

}  // namespace

std::vector<run::TensorSet> tensor_sets(const StepPlan& plan) {
  check_values(plan.config);
  std::vector<run::TensorSet> sets;
  for (std::size_t call = 0; call < plan.config.calls.size(); ++call)
    if (plan.config.values[call]) sets.push_back(tensor_set(plan, call));
  return sets;
}

}  // namespace equarx::step
