#include "experiments/capacity/estimate.hpp"

#include <algorithm>

namespace equarx::capacity {
namespace {

using workloads::AttentionMethod;
using workloads::Batch;
using workloads::Transformer;

}  // namespace

SteadyState steady_state(const Request& request, const Transformer& model,
                         const AttentionMethod& method, const serve::StepCosts& costs,
                         std::uint32_t sequences, std::uint64_t tokens) {
  const auto prompt = static_cast<double>(request.prompt);
  const auto output = static_cast<double>(request.output);
  const double decoding = sequences;
  // Prompt tokens per token decoded by every sequence, and steps that they need.
  const double prompts = decoding * prompt / output;
  const double room = std::max(1.0, static_cast<double>(tokens) - decoding);
  const double steps = std::max(1.0, prompts / room);
  Batch batch;
  batch.add(model, {1.0, prompt + output / 2.0, decoding}, method, true);
  const double chunk = std::min(prompt, prompts / steps);
  // On average a chunk attends to half of its prompt.
  batch.add(model, {chunk, std::max(chunk, (prompt + chunk) / 2.0), prompts / steps / chunk},
            method, false);
  const double tpot_s = steps * costs.time(batch).total_s();
  return {.sequences = sequences, .tpot_s = tpot_s, .requests_per_s = decoding / (output * tpot_s)};
}

double unloaded_ttft(const Request& request, const Transformer& model,
                     const AttentionMethod& method, const serve::StepCosts& costs,
                     std::uint64_t tokens) {
  double seconds = 0.0;
  for (std::uint64_t done = 0; done < request.prompt;) {
    const std::uint64_t chunk = std::min(tokens, request.prompt - done);
    done += chunk;
    Batch batch;
    batch.add(model, {static_cast<double>(chunk), static_cast<double>(done), 1.0}, method,
              done == request.prompt);
    seconds += costs.time(batch).total_s();
  }
  return seconds;
}

SteadyState largest_state(const Request& request, const Transformer& model,
                          const AttentionMethod& method, const serve::StepCosts& costs,
                          std::uint32_t most, std::uint64_t tokens) {
  const auto state = [&](std::uint32_t sequences) {
    return steady_state(request, model, method, costs, sequences, tokens);
  };
  if (most == 0 || state(1).tpot_s > request.tpot_s) return {};
  std::uint32_t low = 1;  // within the limit
  std::uint32_t high = most + 1;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (state(middle).tpot_s <= request.tpot_s ? low : high) = middle;
  }
  return state(low);
}

}  // namespace equarx::capacity
