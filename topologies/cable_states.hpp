// Which cables of a graph are in a cover by rings, which are not, and what follows from each decision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topologies/cable_graph.hpp"
#include "topologies/ring_cover.hpp"

namespace equarx::topology {

/// Whether a cable is in the cover that is looked for; open: not decided yet.
enum class CableState : std::uint8_t { open, in, out };

/// Decisions, with all that follows from them: every chip has two cables that are in. Each step is paid for out
/// of a budget.
class CableStates {
 public:
  /// What is known of a chip.
  struct Chip {
    std::uint32_t open = 0;  ///< cables that are not decided
    std::uint32_t in = 0;
    ChipId far_end = 0;  ///< of the path that ends here; of a chip without cables, itself
  };

  /// `one_ring`: a ring that leaves chips out is not allowed. Both must outlive it.
  CableStates(const CableGraph& graph, bool one_ring, std::uint64_t& budget);

  /// What follows without any decision; false if there is no cover.
  bool settle_all_chips();

  /// Decides a cable and all that follows from it; false if that cannot be.
  bool decide(CableId cable, CableState state);

  /// Cables that are decided.
  std::size_t decisions() const { return decided_.size(); }
  /// Takes the last decisions back, until so many are left.
  void undo_to(std::size_t decisions);

  CableState state(CableId cable) const { return states_[cable]; }
  const Chip& chip(ChipId chip) const { return chips_[chip]; }
  /// Cables that are in: as many as chips in a cover.
  std::uint32_t cables_in() const { return cables_in_; }
  /// The chips that each chip is joined to; of a cover.
  RingCover cover() const;

 private:
  struct Decision {
    CableId cable;
    std::array<ChipId, 2> path_ends;  ///< of the path that it made
  };
  struct Pending {
    CableId cable;
    CableState state;
  };

  void pay(std::uint64_t steps);
  bool propagate();
  bool apply(CableId cable, CableState state);
  void undo();
  /// A cable that joins the ends of a path is out, unless it completes the ring.
  void keep_path_open(const std::array<ChipId, 2>& path_ends);
  /// What follows for the other cables of a chip after one was decided.
  bool settle(ChipId chip, CableState decided);
  void push_open_cables(ChipId chip, CableState state);

  const CableGraph& graph_;
  bool one_ring_;
  std::uint64_t& budget_;
  std::vector<CableState> states_;  ///< by cable
  std::vector<Chip> chips_;
  std::uint32_t cables_in_ = 0;
  std::vector<Decision> decided_;
  std::vector<Pending> pending_;
};

}  // namespace equarx::topology
