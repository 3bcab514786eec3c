#include "experiments/capacity/steady.hpp"

#include <algorithm>

namespace equarx::capacity {

SteadyState steady(const Request& request, const config::PoolConfig& pool,
                   const serve::PoolMemory& memory, const serve::StepCosts& costs) {
  constexpr double kMostSequences = 4096.0;
  const std::uint64_t block = pool.scheduler.block;
  const std::uint64_t positions = (request.prompt + request.output + block - 1) / block * block;
  const double most = std::min(kMostSequences, memory.positions / static_cast<double>(positions));
  return largest_state(request, pool.workload.model, pool.workload.attention, costs,
                       static_cast<std::uint32_t>(most), pool.scheduler.limits.tokens);
}

}  // namespace equarx::capacity
