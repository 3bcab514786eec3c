// Steady state of a replica, from the times of its steps alone.
#pragma once

#include <cstdint>

#include "experiments/capacity/request.hpp"
#include "experiments/serve/step_costs.hpp"

namespace equarx::capacity {

/// A replica with a constant number of sequences, whose prompts arrive as fast as outputs end.
struct SteadyState {
  std::uint32_t sequences = 0;
  double tpot_s = 0.0;  ///< the step that decodes them, with its share of prompts
  double requests_per_s = 0.0;
};

/// The steady state of `sequences`, with up to `tokens` positions per step.
SteadyState steady_state(const Request& request, const workloads::Transformer& model,
                         const workloads::AttentionMethod& method, const serve::StepCosts& costs,
                         std::uint32_t sequences, std::uint64_t tokens);

/// Time to first token of a single request, in s.
double unloaded_ttft(const Request& request, const workloads::Transformer& model,
                     const workloads::AttentionMethod& method, const serve::StepCosts& costs,
                     std::uint64_t tokens);

/// The steady state with the most sequences, up to `most`, whose time per token is within the limit;
/// `sequences` is 0 if one is too many.
SteadyState largest_state(const Request& request, const workloads::Transformer& model,
                          const workloads::AttentionMethod& method, const serve::StepCosts& costs,
                          std::uint32_t most, std::uint64_t tokens);

}  // namespace equarx::capacity
