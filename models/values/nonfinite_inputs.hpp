// NaN and Inf in the input tensors of a collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/values/tensor_source.hpp"

namespace equarx::values {

/// Counts of NaN and Inf in the tensor of one rank.
struct NonfiniteInput {
  std::uint32_t rank = 0;
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;

  bool operator==(const NonfiniteInput&) const = default;
};

/// Reads the tensors of all ranks and returns those with NaN or Inf, in rank order.
std::vector<NonfiniteInput> nonfinite_inputs(const TensorSource& source, std::uint32_t ranks);

/// Lines for people: "input of rank 3 has 2 NaN, 1 Inf"; the first few ranks, and how many more.
std::vector<std::string> texts_of(const std::vector<NonfiniteInput>& inputs);

}  // namespace equarx::values
