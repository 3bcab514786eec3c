// Partial assignment of links to a ring cover, with constraint propagation and undo.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topologies/cable_graph.hpp"
#include "topologies/ring_cover.hpp"

namespace equarx::topology {

/// State of a link in the partial cover; `open`: undecided.
enum class CableState : std::uint8_t { open, in, out };

/// Decisions and their consequences under the constraint that every chip has exactly two links in
/// the cover. Every step is deducted from a budget.
class CableStates {
 public:
  /// Per-chip state.
  struct Chip {
    std::uint32_t open = 0;  ///< undecided links
    std::uint32_t in = 0;    ///< links in the cover
    /// Other end of the path that ends here; the chip itself if it has no link in the cover.
    ChipId far_end = 0;
  };

  /// `one_ring` forbids rings that skip chips. `graph` and `budget` must outlive the object.
  CableStates(const CableGraph& graph, bool one_ring, std::uint64_t& budget);

  /// Propagates the constraints before any decision; false if no cover exists.
  bool settle_all_chips();

  /// Decides a link and propagates; false on a contradiction.
  bool decide(CableId cable, CableState state);

  /// Number of decided links, including propagated ones.
  std::size_t decisions() const { return decided_.size(); }
  /// Undoes the latest decisions until `decisions` remain.
  void undo_to(std::size_t decisions);

  CableState state(CableId cable) const { return states_[cable]; }
  const Chip& chip(ChipId chip) const { return chips_[chip]; }
  /// Links in the cover; equals the number of chips once the cover is complete.
  std::uint32_t cables_in() const { return cables_in_; }
  /// The neighbours of each chip; requires a complete cover.
  RingCover cover() const;

 private:
  struct Decision {
    CableId cable;
    std::array<ChipId, 2> path_ends;  ///< ends of the path that the decision created
  };
  struct Pending {
    CableId cable;
    CableState state;
  };

  void spend(std::uint64_t steps);
  bool propagate();
  bool apply(CableId cable, CableState state);
  void undo();
  /// Excludes the link that joins the two ends of a path, unless it completes the ring.
  void keep_path_open(const std::array<ChipId, 2>& path_ends);
  /// Propagates to the other links of a chip after one was decided.
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
