#include "experiments/breakdown.hpp"

#include <algorithm>
#include <array>

#include "models/collectives/traffic.hpp"

namespace equarx::experiments {
namespace {

using collectives::Content;
using collectives::kDirections;

/// Calls `visit` with each Direction in which a chip's messages pass over the link.
template <typename Visit>
void for_each_use(const sim::Machine& machine, std::uint32_t link, Visit visit) {
  for (const auto& routes : machine.routes)
    for (std::size_t way = 0; way < kDirections; ++way)
      for (const std::uint32_t passed : routes[way])
        if (passed == link) visit(way);
}

/// Seconds that messages hold a link besides their bytes, by Direction.
std::array<double, kDirections> held_s(const CollectivePlan& plan) {
  std::array<double, kDirections> total_s{};
  for (std::size_t message = 0; message < plan.program.messages.size(); ++message)
    total_s[static_cast<std::size_t>(plan.program.messages[message].direction)] +=
        plan.costs.link_s[message];
  return total_s;
}

}  // namespace

Breakdown break_down(const CollectivePlan& plan, const sim::Machine& machine, double time_s) {
  const auto bytes = sim::link_bytes(plan.program, machine);
  const auto busiest = static_cast<std::uint32_t>(std::ranges::max_element(bytes) - bytes.begin());
  const auto payload = collectives::sent_bytes(plan.program, Content::payload);
  const auto scales = collectives::sent_bytes(plan.program, Content::scales);
  const auto held = held_s(plan);
  const double rate = machine.links[busiest].rate;
  Breakdown parts;
  for_each_use(machine, busiest, [&](std::size_t way) {
    parts.payload_s += static_cast<double>(payload[way]) / rate;
    parts.scales_s += static_cast<double>(scales[way]) / rate;
    parts.overhead_s += held[way];
  });
  const double left_s = time_s - parts.payload_s - parts.scales_s - parts.overhead_s;
  parts.bubbles_s = std::max(0.0, left_s);  // a bound that is met exactly may be missed by rounding
  return parts;
}

}  // namespace equarx::experiments
