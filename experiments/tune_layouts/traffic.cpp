#include "experiments/tune_layouts/traffic.hpp"

#include <variant>

#include "models/steps/chip_lists.hpp"
#include "models/steps/roles.hpp"

namespace equarx::tune_layouts {
namespace {

using Traffic = std::map<std::string, double>;

double sent_bytes(const steps::CollectiveCall& call, const steps::Mesh& mesh) {
  const double chips = steps::group_size(call, mesh);
  const double bytes =
      static_cast<double>(call.elements) * numerics::element_bits(call.dtype) / 8.0;
  const double times = call.collective == collectives::Collective::all_reduce ? 2.0 : 1.0;
  return times * bytes * (chips - 1.0) / chips;
}

Traffic of_chip(const config::StepConfig& config, const steps::Roles& roles, std::uint32_t chip) {
  Traffic bytes;
  for (steps::TaskId id = 0; id < config.graph.tasks.size(); ++id) {
    if (!roles.runs(chip, id)) continue;
    const steps::Task& task = config.graph.tasks[id];
    if (const auto* call = std::get_if<steps::CollectiveCall>(&task.work))
      bytes[call->groups ? "pipeline" : steps::over_text(*call, config.mesh)] +=
          sent_bytes(*call, config.mesh);
    // Only messages between stages do not wait.
    if (const auto* permute = std::get_if<steps::Permute>(&task.work))
      bytes[permute->waits ? "context" : "pipeline"] += static_cast<double>(permute->bytes);
  }
  return bytes;
}

double total(const Traffic& traffic) {
  double sum = 0.0;
  for (const auto& [axis, bytes] : traffic) sum += bytes;
  return sum;
}

}  // namespace

Traffic bytes_by_axis(const config::StepConfig& config) {
  const steps::Roles roles(config.graph, config.mesh.chips());
  Traffic most;
  for (const std::uint32_t chip : roles.representatives())
    if (Traffic one = of_chip(config, roles, chip); total(one) > total(most)) most = std::move(one);
  return most;
}

}  // namespace equarx::tune_layouts
