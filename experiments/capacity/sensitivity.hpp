// Sensitivities of the capacity of a replica.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/capacity/machines.hpp"
#include "experiments/capacity/request.hpp"

namespace equarx::capacity {

/// Effect of a parameter of the chip that is 10 % larger.
struct Sensitivity {
  std::string parameter;  ///< key of the hardware file
  double change = 0.0;    ///< of requests/s in the steady state, relative
};

/// Effects of memory, bandwidths and rates, largest first.
std::vector<Sensitivity> sensitivities(const Request& request, const Machine& machine,
                                       const Formats& formats, std::uint64_t tokens,
                                       unsigned threads);

}  // namespace equarx::capacity
