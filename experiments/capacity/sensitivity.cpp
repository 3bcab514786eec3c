#include "experiments/capacity/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/input/json.hpp"
#include "experiments/capacity/estimate.hpp"
#include "experiments/capacity/steady.hpp"
#include "experiments/config/serving_json.hpp"

namespace equarx::capacity {
namespace {

constexpr double kFactor = 1.1;

constexpr std::array<std::string_view, 9> kParameters = {
    "hbm_capacity",     "hbm_bandwidth", "link_bandwidth", "matrix_rate_bf16",  "matrix_rate_fp8",
    "matrix_rate_int8", "vector_rate",   "hop_latency",    "collective_startup"};

double rate_of(const Request& request, const input::Json& json, unsigned threads) {
  const config::ServingConfig config = config::read_serving(json);
  const serve::StepCosts costs(config.pool, threads);
  const serve::PoolMemory memory = serve::pool_memory(config.pool, request.prompt, "/serving");
  return steady(request, config.pool, memory, costs).requests_per_s;
}

}  // namespace

std::vector<Sensitivity> sensitivities(const Request& request, const Machine& machine,
                                       const Formats& formats, std::uint64_t tokens,
                                       unsigned threads) {
  const input::JsonValue nominal = configuration(request, machine, formats, tokens, 1, 1.0);
  const double rate = rate_of(request, nominal, threads);
  const hardware::Chip chip = config::read_serving(nominal).pool.machine.chip;
  std::vector<Sensitivity> all;
  for (const std::string_view key : kParameters) {
    const hardware::ParameterInfo& info = *hardware::find_parameter(key);
    const double value = (chip.*info.member).value;
    if (value <= 0.0 || rate <= 0.0) continue;
    input::Json changed = *nominal;
    changed["hardware"] = {{"based_on", machine.chip},
                           {std::string(key), hardware::format_value(info, kFactor * value)}};
    all.push_back({std::string(key), rate_of(request, changed, threads) / rate - 1.0});
  }
  constexpr double kLeast = 1e-3;
  std::erase_if(all, [](const Sensitivity& one) { return std::abs(one.change) < kLeast; });
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Sensitivity& one) { return std::abs(one.change); });
  return all;
}

}  // namespace equarx::capacity
