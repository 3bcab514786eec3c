// AllReduce through two trees between nodes: NCCL's Tree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/exchange_program.hpp"

namespace equarx::collectives {

/// A node's place in a tree of nodes.
struct TreeNode {
  std::optional<std::uint32_t> parent = std::nullopt;  ///< absent at the root
  std::optional<std::uint32_t> first_child = std::nullopt;
  std::optional<std::uint32_t> second_child = std::nullopt;

  bool operator==(const TreeNode&) const = default;
};

/// Number of complementary trees.
inline constexpr std::uint32_t kTrees = 2;

/// Returns the nodes of NCCL's double binary tree (Sanders, Speck, Träff, 2009; ncclGetDtree() in
/// src/graph/trees.cc): a leaf of one tree is an inner node of the other. The second is the first
/// mirrored or, for an odd number of nodes, shifted by one.
/// @param tree  0 or 1
std::vector<TreeNode> tree_of_nodes(std::uint32_t nodes, std::uint32_t tree);

/// Each of the two trees sums half of the tensor, once for each chip of a node: a chain through the
/// chips of the node adds a part to the sum that the node sends to its parent, and the root's sum
/// takes the same way back. The chip at the head of a chain exchanges with parent and second child,
/// the one behind it with the first child, so that all ports carry the same. Parts are sent in
/// microshards, up and down at the same time, in a stream for each tree, direction and position in
/// the chain (Instruction::stream). Sums are in the wire format.
///
/// @param grid  nodes x chips of a node
/// @param options  cut.sizes.microshard: elements of a microshard; 0 for those of 512 KiB
/// @throws std::invalid_argument for formats with scales, or fewer elements than parts
Program make_double_trees(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const ExchangeOptions& options);

/// Microshards of each part of a tree for each chip.
/// @param elements  of a part
std::uint32_t tree_microshards(const CutRule& rule, const numerics::BlockFormat& format,
                               std::uint64_t elements);

}  // namespace equarx::collectives
