#include "experiments/capacity/operating_point.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/serving/summary.hpp"

namespace equarx::capacity {
namespace {

/// Value at a share of the way through the values, by rank.
double at_percentile(std::vector<double> values, double share) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values[rank];
}

}  // namespace

OperatingPoint simulate_at(const Request& request, serving::System system, double requests_per_s) {
  system.load.rate = requests_per_s;
  const std::vector<serving::Request> requests = serving::draw(system.load);
  const serving::Outcome outcome = serving::simulate(system, requests);
  const serving::Summary summary = serving::summarize(outcome, system);
  std::vector<double> ttft;
  std::vector<double> tpot;
  for (const serving::Record& record : outcome.records) {
    ttft.push_back(record.ttft_s());
    tpot.push_back(record.tpot_s());
  }
  return {.requests_per_s = requests_per_s,
          .ttft_s = at_percentile(std::move(ttft), request.percentile),
          .tpot_s = at_percentile(std::move(tpot), request.percentile),
          // Arrivals: a finite load ends with a tail without any.
          .output_tokens_per_s = requests_per_s * static_cast<double>(request.output),
          .tokens_per_s_per_user = summary.tokens_per_s_per_user,
          .utilization = summary.utilization};
}

std::vector<OperatingPoint> largest_rate(const Request& request, const serving::System& system,
                                         double estimate) {
  constexpr double kLeast = 0.01;
  constexpr double kClose = 1.02;
  std::vector<OperatingPoint> points;
  const auto meets = [&](double rate) {
    points.push_back(simulate_at(request, system, rate));
    return points.back().meets(request);
  };
  if (meets(estimate)) return points;
  double low = 0.0;  // meets the limits
  double high = estimate;
  for (double rate = estimate / 2.0; low == 0.0 && rate > kLeast * estimate; rate /= 2.0)
    (meets(rate) ? low : high) = rate;
  if (low == 0.0) return {};
  while (high / low > kClose) {
    const double middle = std::sqrt(low * high);
    (meets(middle) ? low : high) = middle;
  }
  std::erase_if(points, [&](const OperatingPoint& point) { return point.requests_per_s > low; });
  std::ranges::sort(points, {}, &OperatingPoint::requests_per_s);
  return points;
}

}  // namespace equarx::capacity
