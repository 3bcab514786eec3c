// The nodes of the traces of all chips as one graph, in which equal nodes of several chips are one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/chakra/trace.hpp"

namespace equarx::chakra {

/// Chips of each process group, by its name.
using Groups = std::map<std::string, std::vector<std::uint32_t>>;

/// Chakra traces of a machine.
struct Traces {
  std::vector<Trace> chips;  ///< by chip; or a single trace that applies to all chips
  std::uint32_t devices = 1;
  Groups groups;
};

/// A node of one chip.
struct Member {
  std::uint32_t chip = 0;
  std::size_t node = 0;    ///< index into the nodes of the trace
  std::uint32_t peer = 0;  ///< of a send: the receiver; of a receive: the sender

  bool operator==(const Member&) const = default;
};

/// A node that one chip or several run. Merged nodes do the same after the same merged nodes, up to
/// numbers in their names.
struct MergedNode {
  std::vector<Member> members;     ///< at most one per chip
  std::vector<std::size_t> after;  ///< merged nodes, ascending, all before this one
  /// Groups of a collective that all their members run, each ascending.
  std::vector<std::vector<std::uint32_t>> groups = {};
  /// Why the groups of a collective cannot be determined; empty otherwise.
  std::string obstacle = {};
  /// The merged node that sends the messages of a receive.
  std::optional<std::size_t> send = {};
};

/// Removes numbers from a name, so that equal nodes of all layers get the same name.
std::string without_numbers(const std::string& name);

/// A node for messages: "chip 3, node 7 ('send')"; without the chip if one trace applies to all.
std::string node_text(const Traces& traces, const Member& member);

/// Returns the merged nodes in an order in which they can be issued: a node follows its
/// dependencies, and of several the one comes first that its chip issues first, by ascending id, as in
/// ASTRA-sim. The ids of a trace are its own. The collectives of a group are matched in the order in
/// which its chips issue them; sends and receives by sender, receiver and tag, in the same order.
/// `timed`: computations with different durations differ
/// @throws std::invalid_argument that names chip and node for duplicate ids, unknown dependencies,
/// cycles (within a chip or through messages), sends without receives, receives without sends,
/// collectives that a chip of their group does not run, and groups with unknown chips
std::vector<MergedNode> merged_nodes(const Traces& traces, bool timed);

}  // namespace equarx::chakra
