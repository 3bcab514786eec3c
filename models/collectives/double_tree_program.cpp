#include "models/collectives/double_tree_program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

enum class Way : std::uint8_t { up, down };

std::string_view name(Way way) { return way == Way::up ? "up" : "down"; }

/// Parent in a tree rooted at 0: the node whose number has the next higher bit in place of the
/// lowest, or none of both if that is beyond the last.
std::uint32_t parent_of(std::uint32_t node, std::uint32_t nodes) {
  const std::uint32_t lowest = node & (~node + 1);
  const std::uint32_t above = (node - lowest) | (2 * lowest);
  return above < nodes ? above : node - lowest;
}

std::vector<TreeNode> tree_rooted_at_0(std::uint32_t nodes) {
  std::vector<TreeNode> tree(nodes);
  for (std::uint32_t node = 1; node < nodes; ++node) {
    const std::uint32_t parent = parent_of(node, nodes);
    tree[node].parent = parent;
    (node < parent ? tree[parent].first_child : tree[parent].second_child) = node;
  }
  return tree;
}

/// Writes one tree.
class TreeWriter {
 public:
  TreeWriter(ProgramWriter& writer, std::uint32_t tree)
      : writer_(writer),
        grid_(writer.program().grid()),
        tree_(tree),
        nodes_(tree_of_nodes(grid_.length(kSliceAxis), tree)),
        chips_(grid_.length(kChipAxis)),
        root_(static_cast<std::uint32_t>(
            std::ranges::find_if(nodes_, [](const TreeNode& node) { return !node.parent; }) -
            nodes_.begin())) {
    visit(root_);
  }

  void write(std::uint32_t microshard) {
    micro_ = microshard;
    arriving_.clear();
    for (std::uint32_t position = 0; position < chips_; ++position)
      terms_.at(position) = make_buffer(Phase::reduce_scatter, position);
    sum_ = make_buffer(Phase::all_gather, 0);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) send_up(*node);
    for (const std::uint32_t node : order_) send_down(node);
  }

 private:
  /// Parents before their children.
  void visit(std::uint32_t node) {
    order_.push_back(node);
    for (const auto& child : {nodes_[node].first_child, nodes_[node].second_child})
      if (child) visit(*child);
  }

  RankRange ranks_of(std::uint32_t node) const {
    return {node * chips_, node * chips_ + chips_ - 1};
  }
  void use_stream(Way way, std::uint32_t position) {
    const std::uint32_t chain = 2 * tree_ + (way == Way::up ? 0 : 1);
    writer_.use_stream(chain * chips_ + position);
  }

  /// The part that a chip at this position of the chain works on: the part of the chain's head.
  Tile tile(std::uint32_t position) const {
    return {.shard_offset = grid_.along(kChipAxis, chips_ - position),
            .segment = tree_,
            .microshard = micro_};
  }
  Offset offset(std::uint32_t from, std::uint32_t to, std::uint32_t forward) const {
    const std::uint32_t nodes = grid_.length(kSliceAxis);
    return grid_.move(grid_.along(kSliceAxis, to + nodes - from),
                      grid_.along(kChipAxis, forward % chips_));
  }
  BufferId make_buffer(Phase phase, std::uint32_t position) {
    return writer_.make_buffer(Content::payload, phase, tile(position));
  }

  /// The child whose chip at the head of the chain exchanges with this position.
  std::optional<std::uint32_t> child_at(std::uint32_t node, std::uint32_t position) const {
    if (position == 1) return nodes_[node].first_child;
    return position == 0 ? nodes_[node].second_child : std::nullopt;
  }
  /// The position of the parent that a node exchanges with.
  std::uint32_t position_at_parent(std::uint32_t node) const {
    return nodes_[*nodes_[node].parent].first_child == node ? 1 : 0;
  }

  /// Channels have one sending and one receiving stream each.
  ChannelId channel(Way way, std::uint32_t from, std::uint32_t to, Offset offset) {
    const auto [known, is_new] = channels_.try_emplace({way, from, to, offset}, 0);
    if (is_new)
      known->second = writer_.add_channel(
          offset, fmt::format("{} tree {}, from position {} to {}", name(way), tree_, from, to));
    return known->second;
  }

  void send_up(std::uint32_t node) {
    for (std::uint32_t position = chips_; position-- > 0;) {
      use_stream(Way::up, position);
      Operand operand = Operand::input;
      if (position + 1 < chips_) add(node, position, node, position + 1, operand);
      if (const auto child = child_at(node, position)) add(node, position, *child, 0, operand);
      if (position > 0) {
        send_term(node, position, operand, node, position - 1);
      } else if (nodes_[node].parent) {
        send_term(node, 0, operand, *nodes_[node].parent, position_at_parent(node));
      } else {
        writer_.encode_into(sum_, Phase::all_gather, tile(0), operand, ranks_of(node));
      }
    }
  }

  void send_term(std::uint32_t node, std::uint32_t position, Operand operand, std::uint32_t to_node,
                 std::uint32_t to) {
    const RankRange ranks = ranks_of(node);
    writer_.encode_into(terms_[position], Phase::reduce_scatter, tile(position), operand, ranks);
    const Offset way = offset(node, to_node, chips_ + to - position);
    const MessageId message = writer_.send(
        Phase::reduce_scatter, {terms_[position], channel(Way::up, position, to, way)}, ranks);
    arriving_[{node, position}] = message;
  }

  /// Adds the sum of another position, and notes that the own is a sum now.
  void add(std::uint32_t node, std::uint32_t position, std::uint32_t from_node, std::uint32_t from,
           Operand& operand) {
    const RankRange ranks = ranks_of(node);
    writer_.wait(arriving_.at({from_node, from}), ranks);
    writer_.emit({.op = Op::add,
                  .phase = Phase::reduce_scatter,
                  .operand = operand,
                  .tile = tile(position),
                  .buffer = terms_[from],
                  .origin = {.offset = offset(node, from_node, chips_ + from - position)},
                  .ranks = ranks});
    operand = Operand::rounded_sums;
  }

  void send_down(std::uint32_t node) {
    for (std::uint32_t position = 0; position < chips_; ++position) {
      use_stream(Way::down, position);
      const RankRange ranks = ranks_of(node);
      const Origin root{.offset = offset(node, root_, chips_ - position)};
      if (node != root_ || position > 0) writer_.wait(sums_.at({node, position}), ranks);
      if (position + 1 < chips_) send_sum(node, position, root, node, position + 1);
      if (const auto child = child_at(node, position)) send_sum(node, position, root, *child, 0);
      writer_.deliver(tile(position), sum_, root, ranks);
    }
  }

  void send_sum(std::uint32_t node, std::uint32_t position, const Origin& root,
                std::uint32_t to_node, std::uint32_t to) {
    const Offset way = offset(node, to_node, chips_ + to - position);
    sums_[{to_node, to}] = writer_.send(
        Phase::all_gather, {sum_, channel(Way::down, position, to, way), root}, ranks_of(node));
  }

  ProgramWriter& writer_;
  const RankGrid& grid_;
  std::uint32_t tree_;
  std::vector<TreeNode> nodes_;
  std::uint32_t chips_;
  std::uint32_t root_;
  std::vector<std::uint32_t> order_;  ///< nodes, parents before their children
  std::map<std::tuple<Way, std::uint32_t, std::uint32_t, Offset>, ChannelId> channels_;
  // Of the current microshard:
  std::uint32_t micro_ = 0;
  std::vector<BufferId> terms_ = std::vector<BufferId>(chips_);  ///< by position
  BufferId sum_ = 0;
  using Place = std::pair<std::uint32_t, std::uint32_t>;  ///< node and position
  std::map<Place, MessageId> arriving_;                   ///< by sender, on the way up
  std::map<Place, MessageId> sums_;                       ///< by receiver, on the way down
};

}  // namespace

std::vector<TreeNode> tree_of_nodes(std::uint32_t nodes, std::uint32_t tree) {
  std::vector<TreeNode> found = tree_rooted_at_0(nodes);
  if (tree == 0) return found;
  const bool mirrored = nodes % 2 == 0;
  const auto moved = [&](std::uint32_t node) {
    return mirrored ? nodes - 1 - node : (node + 1) % nodes;
  };
  std::vector<TreeNode> other(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    TreeNode& there = other[moved(node)];
    there = found[node];
    for (std::optional<std::uint32_t>* one :
         {&there.parent, &there.first_child, &there.second_child})
      if (*one) *one = moved(**one);
  }
  return other;
}

std::uint32_t tree_microshards(const CutRule& rule, const numerics::BlockFormat& format,
                               std::uint64_t elements) {
  constexpr std::uint64_t kChunk = 512 * 1024;  // bytes
  if (rule.microshards) return *rule.microshards;
  const std::uint64_t parts = rule.sizes.microshard > 0
                                  ? divide_up(elements, rule.sizes.microshard)
                                  : divide_up(numerics::payload_bytes(format, elements), kChunk);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, parts));
}

Program make_double_trees(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const ExchangeOptions& options) {
  if (grid.axes() != 2) throw std::logic_error("trees between nodes need nodes and their chips");
  if (options.reduce_scatter.scaled || options.all_gather.scaled)
    throw std::invalid_argument("trees between nodes cannot use formats with scales");
  const std::uint64_t part = divide_up(elements, kTrees * grid.length(kChipAxis));
  const std::uint32_t microshards = tree_microshards(options.cut, options.reduce_scatter, part);
  ProgramWriter writer(
      {Collective::all_reduce,
       Partition(elements, grid,
                 std::vector<Segment>(kTrees, Segment{{kChipAxis}, {{1, microshards}}})),
       tensor_format,
       {options.reduce_scatter, options.all_gather},
       {},
       {},
       {},
       {}});
  std::array<TreeWriter, kTrees> trees = {TreeWriter(writer, 0), TreeWriter(writer, 1)};
  for (std::uint32_t micro = 0; micro < microshards; ++micro)
    for (TreeWriter& tree : trees) tree.write(micro);
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
