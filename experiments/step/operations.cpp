#include "experiments/step/operations.hpp"

#include <algorithm>
#include <string>
#include <variant>

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

}  // namespace

std::vector<OperationTotal> total_operations(const config::StepConfig& config) {
  std::vector<OperationTotal> totals;
  if (!config.training && !config.workload) return totals;
  const workloads::ComputeRates rates = workloads::compute_rates(config.machine.chip);
  for (const steps::Task& task : config.graph.tasks)
    if (const auto* work = std::get_if<steps::Computation>(&task.work))
      for (const workloads::Operation& operation : work->operations) add(operation, rates, totals);
  return totals;
}

}  // namespace equarx::step
