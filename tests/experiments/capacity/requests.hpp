// A small question about capacity.
#pragma once

#include "experiments/capacity/capacity.hpp"
#include "experiments/config/serving_json.hpp"

namespace equarx::capacity::testing {

/// Llama-3.1-8B on one or four chips of a kind, in two precisions.
inline Request small_request() {
  return {.model = "llama3.1-8b",
          .prompt = 512,
          .output = 64,
          .ttft_s = 2.0,
          .tpot_s = 0.05,
          .chips = {"tpu-v6e"},
          .sizes = {1, 4},
          .precisions = {"bf16", "zeroquant"},
          .kv = {"bf16"},
          .collectives = {"bf16", "int8"}};
}

/// The pool of a candidate of the request.
inline config::PoolConfig pool_of(const Request& request, std::uint32_t chips,
                                  std::uint32_t sequences = 64) {
  for (const Machine& machine : machines_of(request.chips.front(), {chips}))
    return config::read_serving(configuration(request, machine, {}, 2048, sequences, 1.0)).pool;
  return {};
}

}  // namespace equarx::capacity::testing
