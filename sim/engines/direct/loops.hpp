// Parts of instruction streams that repeat.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/timeline.hpp"

namespace equarx::sim {

/// Consecutive steps of a list that repeat but for their messages: two steps of the loop that are
/// `period` apart do the same.
struct Loop {
  const Step* begin = nullptr;
  const Step* end = nullptr;
  std::ptrdiff_t period = 0;  ///< steps

  bool contains(const Step* step) const { return begin <= step && step < end; }
};

/// Returns disjoint loops of at least eight periods, ascending. Only steps that neither meet other streams
/// of the chip nor record times belong to loops.
std::vector<Loop> find_loops(const std::vector<Step>& list);

}  // namespace equarx::sim
