// What a chip does in the order of a module: work, collectives that begin and end, loops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/hlo/collectives.hpp"
#include "models/hlo/cost.hpp"
#include "models/hlo/module.hpp"
#include "models/hlo/scanner.hpp"

namespace equarx::hlo {

/// Index into Flow::sites.
using SiteId = std::uint32_t;

/// One entry of a list.
struct FlowStep {
  enum class Kind : std::uint8_t {
    work,    ///< `cost`, `times` times one after the other
    begin,   ///< the collective `site` begins
    end,     ///< it must be done here
    repeat,  ///< the list `body`, `times` times
  };
  Kind kind = Kind::work;
  Cost cost{};
  std::uint64_t times = 1;
  SiteId site = 0;
  ComputationId body = 0;
};

/// A module as lists that call each other.
struct Flow {
  std::vector<std::vector<FlowStep>>
      lists;  ///< by computation; empty of those that are never run by themselves
  ComputationId entry = 0;
  std::vector<ComputationId> order;  ///< of the lists: each behind those that it repeats
  std::vector<CollectiveSite> sites;
  Skipped notes;  ///< what was not understood or was decided, and how often
};

/// How often loops run whose text does not say it, or shall run otherwise.
struct TripCounts {
  std::map<std::string, std::uint64_t> by_name;
  std::optional<std::uint64_t> otherwise;  ///< of those that are unknown
};

/// Makes the lists. Of a conditional the branch is taken that moves most bytes in collectives, else the one with most
/// FLOPs, else with most bytes of memory. Loops in which no collective is are work that is done as often. Bytes of a copy
/// that is begun and waited for later are moved beside the instruction that follows. A collective is waited for at its
/// "-done", at the end of its computation if there is none, and at once if it is no pair. Within a fusion it comes
/// before the fusion's work.
/// @throws TextError for a loop without a known count
Flow make_flow(const Module& module, const TripCounts& counts = {});

/// All that a flow does, once through.
struct FlowTotals {
  Cost cost;
  double collective_bytes = 0.0;  ///< CollectiveSite::bytes of all
  std::vector<double> times;      ///< by site: how often it is carried out
};
FlowTotals totals_of(const Flow& flow);

}  // namespace equarx::hlo
