// What becomes of a collective of a program that others wrote.
#pragma once

#include <string>

#include "models/steps/step.hpp"

namespace equarx::steps {

/// A collective of a program of XLA, or of Chakra's traces.
struct ImportedCollective {
  std::string group;     ///< its tasks are reported with
  std::string obstacle;  ///< why it is not simulated; empty: it is
  CollectiveCall call;   ///< if it is
  /// A format may be used for what it sends: floating-point numbers of 16 bits or more, which it sums or gathers
  /// (collectives::sums()).
  bool can_quantize = false;
};

}  // namespace equarx::steps
