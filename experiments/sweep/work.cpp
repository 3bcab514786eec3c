#include "experiments/sweep/work.hpp"

#include <algorithm>
#include <exception>
#include <variant>

#include "base/input/json.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/estimates.hpp"
#include "experiments/step/group.hpp"
#include "experiments/step/memory.hpp"

namespace equarx::sweep {
namespace {

/// Reading a configuration and writing its results.
constexpr double kEachPoint_s = 2e-3;

double work_s(const config::StepConfig& config) {
  step::check_memory(config);
  const std::vector<std::uint32_t> tasks = config::tasks_of_calls(config);
  double seconds = 0.0;
  for (const config::StepVariant& variant : config.variants)
    for (std::size_t call = 0; call < config.calls.size(); ++call) {
      const config::ExperimentConfig group =
          step::group_experiment(config, config.calls[call], variant.collectives[call]);
      const double groups = static_cast<double>(config::count_chips(config.machine.topology)) /
                            config::count_chips(group.topology);
      seconds += plan::estimate_experiment_s(group) * groups * tasks[call];
    }
  return seconds;
}

double work_s(const config::ExperimentConfig& config) {
  return plan::estimate_experiment_s(config);
}

}  // namespace

double estimate_work_s(const input::Json& config) {
  try {
    return kEachPoint_s +
           std::visit([](const auto& read) { return work_s(read); }, config::read(config));
  } catch (const std::exception&) {  // reported when the point is computed
    return kEachPoint_s;
  }
}

WorkEstimates::WorkEstimates(const PointSet& points, const std::vector<std::size_t>& shard)
    : stride_(std::max<std::size_t>(1, (shard.size() + kMostEstimates - 1) / kMostEstimates)) {
  constexpr std::size_t kScatter = 7919;  // prime: so that strides do not follow the axes
  for (std::size_t first = 0; first < shard.size(); first += stride_) {
    const std::size_t neighbours = std::min(stride_, shard.size() - first);
    const std::size_t point = shard[first + estimates_.size() * kScatter % neighbours];
    double seconds = kEachPoint_s;
    try {
      seconds = estimate_work_s(points.config(point));
    } catch (const std::exception&) {  // an axis that does not exist
    }
    estimates_.push_back(seconds);
    total_ += seconds * static_cast<double>(neighbours);
  }
}

}  // namespace equarx::sweep
