// AllReduces of tensors in memory with one scale for all ranks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/casts.hpp"
#include "models/collectives/traffic.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"

namespace equarx::testing {

/// Values by rank.
using Tensors = std::vector<std::vector<float>>;

/// Axes of length 2, or a single axis for algorithms without partners.
inline collectives::RankGrid grid_of(std::string_view algorithm, std::uint32_t ranks) {
  if (collectives::find_algorithm(algorithm)->layout != collectives::RankLayout::hypercube)
    return collectives::RankGrid({ranks});
  std::vector<std::uint32_t> axes;
  for (std::uint32_t left = ranks; left > 1; left /= 2) axes.push_back(2);
  return collectives::RankGrid(axes);
}

inline collectives::Program program_of(std::string_view algorithm,
                                       const numerics::BlockFormat& format, std::uint32_t ranks,
                                       std::uint64_t elements) {
  return collectives::with_casts(
      collectives::find_algorithm(algorithm)->make({.grid = grid_of(algorithm, ranks),
                                                    .elements = elements,
                                                    .dtype = format.element,
                                                    .reduce_scatter = format,
                                                    .all_gather = format,
                                                    .cut = {}}),
      numerics::ElementFormat::fp32);
}

inline Tensors inputs(std::uint32_t ranks, std::size_t elements,
                      numerics::Distribution distribution = numerics::Distribution::normal) {
  const values::TensorSource source({.distribution = distribution, .seed = 11}, elements,
                                    numerics::ElementFormat::fp32);
  Tensors tensors(ranks, std::vector<float>(elements));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) source.read(rank, 0, tensors[rank]);
  return tensors;
}

struct Computed {
  std::vector<float> result;
  values::ValueResult values;
};

inline Computed compute(const collectives::Program& program, const Tensors& tensors,
                        std::uint64_t seed = 1) {
  const std::size_t elements = tensors.front().size();
  std::vector<tensors::MemoryTensor> memory;
  for (const auto& tensor : tensors)
    memory.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
  const values::TensorSource source(std::move(memory), elements, numerics::ElementFormat::fp32);
  Computed computed{std::vector<float>(elements), {}};
  values::ResultTensor result(numerics::ElementFormat::fp32,
                              std::as_writable_bytes(std::span(computed.result)));
  computed.values =
      values::execute(program, source, {.threads = 2, .result = &result, .rounding_seed = seed});
  CHECK(computed.values.ranks_identical);
  CHECK(computed.values.sent_bytes == collectives::total_sent_bytes(program));
  CHECK(computed.values.received_bytes == computed.values.sent_bytes);
  return computed;
}

inline float amax_of(const Tensors& tensors) {
  float amax = 0.0F;
  for (const auto& tensor : tensors)
    for (const float value : tensor) amax = std::max(amax, std::fabs(value));
  return amax;
}

}  // namespace equarx::testing
