#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace equarx::topology {

/// A chip, 0 to chip_count() - 1.
using ChipId = std::uint32_t;

/// A directed link, 0 to link_count() - 1.
using LinkId = std::uint32_t;

/// One direction of a cable.
struct Link {
  ChipId from;
  ChipId to;

  bool operator==(const Link&) const = default;
};

/// A cable joins two chips and carries both directions at once, independently.
struct Cable {
  ChipId first;
  ChipId second;
};

/// Which chips are joined by which links: any graph, with no speeds and no sizes.
///
/// Cable k of the constructor becomes link 2k (first to second) and link 2k + 1 (second to first).
/// It does not change after construction, and copies share one graph.
class Topology {
 public:
  /// `labels` names each chip; without any, a chip's label is its number.
  /// Throws std::invalid_argument if there is no chip, if a cable joins a chip to itself or to a
  /// chip that does not exist, if two cables join the same chips, or if labels are missing.
  Topology(std::uint32_t chip_count, const std::vector<Cable>& cables,
           std::vector<std::string> labels = {});

  std::uint32_t chip_count() const;
  std::uint32_t link_count() const;

  /// Throws std::out_of_range for an unknown link.
  Link link(LinkId id) const;

  /// The link from one chip to another, if a cable joins them.
  /// Throws std::invalid_argument for an unknown chip.
  std::optional<LinkId> find_link(ChipId from, ChipId to) const;

  /// The links that leave a chip, by rising id of the chip at the other end.
  /// Throws std::invalid_argument for an unknown chip.
  const std::vector<LinkId>& out_links(ChipId chip) const;

  /// What people call the chip: "(1,0)" on a grid.
  /// Throws std::invalid_argument for an unknown chip.
  const std::string& label(ChipId chip) const;

  /// Throws std::invalid_argument, naming the range of ids, if there is no such chip.
  void require_chip(ChipId chip) const;

 private:
  struct Graph {
    std::vector<std::string> labels;  ///< by chip
    std::vector<Link> links;          ///< by id
    std::vector<std::vector<LinkId>>
        out_links;  ///< by chip, in the order that out_links() promises
  };

  void add_link(Graph& graph, ChipId from, ChipId to) const;

  std::shared_ptr<const Graph> graph_;
};

}  // namespace equarx::topology
