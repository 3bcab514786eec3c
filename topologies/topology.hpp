#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace equarx::topology {

/// A chip, 0 to chip_count() - 1, or a switch, up to node_count() - 1.
using ChipId = std::uint32_t;

/// A directed link, 0 to link_count() - 1.
using LinkId = std::uint32_t;

/// One direction of a link between two chips, or a chip and a switch.
struct Link {
  ChipId from;
  ChipId to;

  bool operator==(const Link&) const = default;
};

/// A bidirectional link between two chips; its directions carry traffic independently.
struct Cable {
  ChipId first;
  ChipId second;
};

/// The link graph of the chips and switches, without bandwidths or sizes.
///
/// Cable k of the constructor becomes link 2k (first to second) and link 2k + 1 (second to first).
/// Immutable; copies share one graph.
class Topology {
 public:
  /// `labels` holds one label per chip, then one per switch; if empty, a label is the number. The
  /// numbers of switches follow those of chips. Throws std::invalid_argument if there are no chips,
  /// a cable joins a chip to itself or to an unknown chip, two cables join the same chips, or the
  /// number of labels is wrong.
  Topology(std::uint32_t chip_count, const std::vector<Cable>& cables,
           std::vector<std::string> labels = {}, std::uint32_t switches = 0);

  std::uint32_t chip_count() const;
  /// Chips and switches.
  std::uint32_t node_count() const;
  std::uint32_t link_count() const;

  /// Throws std::out_of_range for an unknown link.
  Link link(LinkId id) const;

  /// Returns the directed link between two chips; std::nullopt if they are not linked. Throws
  /// std::invalid_argument for an unknown chip.
  std::optional<LinkId> find_link(ChipId from, ChipId to) const;

  /// Returns the outgoing links of a chip, ordered by the id of their far end. Throws
  /// std::invalid_argument for an unknown chip.
  const std::vector<LinkId>& out_links(ChipId chip) const;

  /// Returns the display name of a chip: "(1,0)" on a grid. Throws std::invalid_argument for an
  /// unknown chip.
  const std::string& label(ChipId chip) const;

  /// Throws std::invalid_argument, stating the range of ids, for an unknown chip.
  void require_chip(ChipId chip) const;

 private:
  struct Graph {
    std::uint32_t chips = 0;
    std::vector<std::string> labels;             ///< by node
    std::vector<Link> links;                     ///< by id
    std::vector<std::vector<LinkId>> out_links;  ///< by node, in the order of out_links()
  };

  void add_link(Graph& graph, ChipId from, ChipId to) const;

  std::shared_ptr<const Graph> graph_;
};

}  // namespace equarx::topology
