// A small served model whose steps take times chosen by a test.
#pragma once

#include <functional>
#include <utility>

#include "models/serving/replica.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::serving::testing {

/// Positions of the largest cache, if none is given.
inline constexpr double kRoomy = 1e6;

/// A model on one chip with room for `positions`, in blocks of one, whose steps take what
/// `step_time` returns.
inline Served served(std::function<StepTime(const workloads::Batch&)> step_time,
                     double positions = kRoomy, std::uint64_t block = 1) {
  const workloads::Transformer model = workloads::testing::tiny();
  const workloads::AttentionMethod method{.fused = true, .skips_future = true};
  const KvCache one(model, method, 1, 1, 0.0);
  return {.model = model,
          .method = method,
          .chips = 1,
          .cache = KvCache(model, method, 1, block, positions * one.bytes(1)),
          .step_time = std::move(step_time)};
}

/// Steps of the same time.
inline std::function<StepTime(const workloads::Batch&)> constant(double seconds) {
  return [seconds](const workloads::Batch&) { return StepTime{.compute_s = seconds}; };
}

}  // namespace equarx::serving::testing
