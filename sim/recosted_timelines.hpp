// Timelines of a program with other costs, without writing its steps again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// Costs of a program whose instructions of one kind cost the same, without HBM bytes and least times.
struct CostsByKind {
  std::vector<double> core_s;  ///< by kind of instruction
  double start_s = 0.0;        ///< Costs::start_s
  double link_s = 0.0;         ///< of each message that synchronises
};

/// The timelines of a program for many costs: equal to make_timelines().
class RecostedTimelines {
 public:
  /// `kinds`: by instruction.
  /// @throws std::logic_error if the program has several streams, or ranks that differ
  RecostedTimelines(const collectives::Program& program, std::span<const std::uint32_t> kinds,
                    std::uint32_t ranks);

  Timelines with(const CostsByKind& costs) const;
  /// Timelines whose costs set() sets.
  const Timelines& without_costs() const { return timelines_; }
  /// Sets the costs of timelines of this object.
  void set(const CostsByKind& costs, Timelines& timelines) const;

  /// Memory of the object.
  std::uint64_t bytes() const;

 private:
  Timelines timelines_;               ///< without costs
  std::vector<std::uint32_t> kinds_;  ///< of the instructions before the action of each step
  std::vector<std::uint32_t> ends_;   ///< by step, end of its part of `kinds_`
  std::vector<std::uint32_t> synchronising_;  ///< steps whose message synchronises
};

}  // namespace equarx::sim
