#include "experiments/step/operations.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "models/steps/roles.hpp"

namespace equarx::step {
namespace {

void add(const workloads::Operation& operation, const workloads::ComputeRates& rates,
         std::vector<OperationTotal>& totals) {
  const auto [seconds, roof] = workloads::roofline(operation, rates);
  auto total = std::ranges::find(totals, operation.name, &OperationTotal::name);
  if (total == totals.end())
    total = totals.insert(
        total, {.name = std::string(operation.name), .kind = operation.kind, .roof = roof});
  const auto times = static_cast<double>(operation.times);
  ++total->count;
  total->time_s += seconds;
  total->flops += operation.flops * times;
  total->hbm_bytes += operation.hbm_bytes() * times;
}

double sum_s(const std::vector<OperationTotal>& totals) {
  double seconds = 0.0;
  for (const OperationTotal& total : totals) seconds += total.time_s;
  return seconds;
}

}  // namespace

std::vector<OperationTotal> total_operations(const config::StepConfig& config) {
  std::vector<OperationTotal> busiest;
  if (!config.training && !config.workload) return busiest;
  const workloads::ComputeRates rates = workloads::compute_rates(config.machine.chip);
  const steps::Roles roles(config.graph, config.mesh.chips());
  for (const std::uint32_t chip : roles.representatives()) {
    std::vector<OperationTotal> totals;
    for (steps::TaskId id = 0; id < config.graph.tasks.size(); ++id) {
      const auto* work = std::get_if<steps::Computation>(&config.graph.tasks[id].work);
      if (work == nullptr || !roles.runs(chip, id)) continue;
      for (const workloads::Operation& operation : work->operations) add(operation, rates, totals);
    }
    if (busiest.empty() || sum_s(totals) > sum_s(busiest)) busiest = std::move(totals);
  }
  return busiest;
}

}  // namespace equarx::step
