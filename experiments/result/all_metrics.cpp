#include "experiments/result/all_metrics.hpp"

#include <algorithm>

#include "experiments/result/run_metrics.hpp"

namespace equarx::result {

const std::vector<MetricInfo>& all_metrics() {
  static const std::vector<MetricInfo> all = [] {
    std::vector<MetricInfo> found;
    for (const auto& metric : run_metrics()) found.push_back(metric.info());
    const auto add_new = [&](const Metrics<step::VariantResult>& metrics) {
      for (const auto& metric : metrics)
        if (std::ranges::find(found, metric.info().key, &MetricInfo::key) == found.end())
          found.push_back(metric.info());
    };
    add_new(variant_metrics());
    add_new(simulation_metrics());
    return found;
  }();
  return all;
}

const MetricInfo* find_metric(std::string_view key) {
  const auto found = std::ranges::find(all_metrics(), key, &MetricInfo::key);
  return found == all_metrics().end() ? nullptr : &*found;
}

}  // namespace equarx::result
