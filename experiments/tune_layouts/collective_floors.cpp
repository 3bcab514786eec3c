#include "experiments/tune_layouts/collective_floors.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/step_rules.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/step/group.hpp"

namespace equarx::tune_layouts {
namespace {

double planned_s(const config::StepConfig& config) {
  const input::Json defaults = input::Json::object();
  input::ObjectReader reader(defaults, "");
  const std::vector<config::StepVariant> plain =
      config::read_variants(reader, config.machine, config.mesh, config.calls, {});
  const auto planned = plan::try_plan(
      step::group_experiment(config, config.calls.front(), plain.front().collectives.front()),
      plan::RunProfile::batch);
  if (!planned) return 0.0;
  const plan::CollectivePlan& first = planned->collectives.front().candidates.front();
  return sim::lower_bound_s(first.program, first.simulated.machine(), first.costs);
}

}  // namespace

double CollectiveFloors::seconds(const steps::Mesh& mesh, const AxesCall& call) {
  if (!mesh.order.empty()) return 0.0;
  config::StepCall one{"",
                       {.collective = call.collective,
                        .elements = static_cast<std::uint64_t>(std::llround(call.elements)),
                        .dtype = call.dtype}};
  for (const std::string& axis : call.axes)
    if (mesh.length(axis) > 1) one.call.axes.push_back(*mesh.find(axis));
  if (one.call.axes.empty() || one.call.elements == 0) return 0.0;
  std::ranges::sort(one.call.axes);
  const std::string key = fmt::format(
      "{} {} {} {}", collectives::name(call.collective), one.call.elements,
      numerics::name(call.dtype),
      config::topology_json(config::group_topology(machine_->topology, mesh, one.call, {})).dump());
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const config::StepConfig config{.machine = *machine_, .mesh = mesh, .graph = {}, .calls = {one}};
  return known_[key] = planned_s(config);
}

}  // namespace equarx::tune_layouts
