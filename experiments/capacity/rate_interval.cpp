#include "experiments/capacity/rate_interval.hpp"

#include <utility>
#include <vector>

#include "base/os/parallel_for.hpp"
#include "experiments/serve/intervals.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::capacity {

std::optional<variation::Interval> rate_factors(const Request& request,
                                                const config::PoolConfig& pool,
                                                const serve::PoolMemory& memory,
                                                const serve::StepCosts& costs, unsigned threads) {
  constexpr std::uint64_t kSeed = 1;
  if (!serve::is_uncertain(pool)) return std::nullopt;
  const double nominal = steady(request, pool, memory, costs).requests_per_s;
  std::vector<double> factors(kIntervalSamples);
  os::parallel_for(factors.size(), threads, [&](std::size_t number, unsigned) {
    const config::PoolConfig there = serve::sampled_pool(pool, kSeed, number);
    const serve::StepCosts drawn(there, costs, serve::step_factor(kSeed, number));
    factors[number] = steady(request, there, memory, drawn).requests_per_s / nominal;
  });
  return variation::interval_of(std::move(factors));
}

}  // namespace equarx::capacity
