// Random machines and programs, small enough for SimGrid to run hundreds of them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/step_program.hpp"
#include "sim/time_executor.hpp"

namespace equarx::testing {

/// Features of a case.
struct CaseKind {
  bool shares_links = false;
  bool fails = false;
  bool shares_hbm = false;  ///< cores and DMAs share the HBM of each chip
};

/// All inputs of a simulation.
struct EngineCase {
  std::string description;
  collectives::Program program;
  sim::Machine machine;
  sim::Costs costs;
  std::vector<double> other_work_s;  ///< core time before each run; a single run if empty
  bool overlaps = false;             ///< runs overlap the following other work
  bool traced = false;               ///< record a trace if there is no other work

  sim::Timelines timelines() const;
  sim::TimeResult simulate(sim::Engine engine) const;
};

/// Generates a case with RapidCheck. Times are milliseconds and more, because SimGrid's clock ticks
/// in picoseconds.
EngineCase generate_case(const CaseKind& kind);

}  // namespace equarx::testing
