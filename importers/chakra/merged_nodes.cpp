#include "importers/chakra/merged_nodes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace equarx::chakra {
namespace {

constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::invalid_argument error_at(const Traces& traces, const Member& member,
                               const std::string& what) {
  return std::invalid_argument(fmt::format("{} {}", node_text(traces, member), what));
}

bool is_simulated(CollectiveKind kind) {
  return kind != CollectiveKind::reduce && kind != CollectiveKind::gather &&
         kind != CollectiveKind::scatter;
}

/// The nodes of one chip: dependencies as indices, and the order of issue.
class ChipNodes {
 public:
  ChipNodes(const Traces& traces, std::uint32_t chip)
      : traces_(traces), chip_(chip), nodes_(traces.chips[chip].nodes) {
    if (nodes_.empty())
      throw std::invalid_argument(fmt::format("the trace of chip {} has no nodes", chip));
    if (nodes_.size() > kMaxNodes)
      throw std::invalid_argument(
          fmt::format("the trace has {} nodes; the limit is {}", nodes_.size(), kMaxNodes));
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!index_.emplace(nodes_[i].id, i).second)
        throw error_at(traces_, {chip_, i}, "has a duplicate node id");
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const std::uint64_t id : nodes_[i].after) {
        const auto found = index_.find(id);
        if (found == index_.end())
          throw error_at(traces_, {chip_, i},
                         fmt::format("waits for node {}, which does not exist", id));
        before.resize(nodes_.size());
        before[i].push_back(found->second);
      }
    before.resize(nodes_.size());
    set_order();
  }

  std::vector<std::vector<std::size_t>> before;  ///< by node
  std::vector<std::size_t> order;                ///< nodes in order of issue

 private:
  void set_order() {
    std::vector<std::size_t> pending(nodes_.size());
    std::vector<std::vector<std::size_t>> waiting(nodes_.size());
    using Next = std::pair<std::uint64_t, std::size_t>;  // id and index
    std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::size_t other : before[i]) waiting[other].push_back(i);
      pending[i] = before[i].size();
      if (pending[i] == 0) ready.emplace(nodes_[i].id, i);
    }
    while (!ready.empty()) {
      order.push_back(ready.top().second);
      ready.pop();
      for (const std::size_t i : waiting[order.back()])
        if (--pending[i] == 0) ready.emplace(nodes_[i].id, i);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (pending[i] > 0) throw error_at(traces_, {chip_, i}, "waits for itself");
  }

  const Traces& traces_;
  std::uint32_t chip_;
  const std::vector<Node>& nodes_;
  std::map<std::uint64_t, std::size_t> index_;
};

/// A node of one chip, or a collective with the nodes of all chips of its group.
struct Unit {
  std::vector<Member> members;
  std::vector<std::uint32_t> group = {};  ///< of a collective
  std::string obstacle = {};
  std::size_t send = kNone;      ///< of a receive: unit of the send
  std::size_t position = kNone;  ///< first in the order of issue of its chips
};

class Merger {
 public:
  Merger(const Traces& traces, bool timed) : traces_(traces), timed_(timed) {
    for (std::uint32_t chip = 0; chip < traces.chips.size(); ++chip) {
      chips_.emplace_back(traces, chip);
      unit_of_.emplace_back(traces.chips[chip].nodes.size(), kNone);
    }
  }

  std::vector<MergedNode> merge() && {
    for (std::uint32_t chip = 0; chip < chips_.size(); ++chip)
      for (std::size_t at = 0; at < chips_[chip].order.size(); ++at)
        place({chip, chips_[chip].order[at]}, at);
    check_collectives();
    check_messages();
    for (const std::size_t unit : unit_order()) merge(unit);
    return std::move(merged_);
  }

 private:
  using MessageKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag
  /// Everything by which merged nodes agree.
  struct Key {
    NodeKind kind;
    CollectiveKind collective;
    bool on_host;
    double operations;
    double bytes;
    double duration_s;
    std::vector<bool> dimensions;
    std::string name;
    std::string obstacle;
    std::size_t group;
    std::size_t send;
    std::vector<std::size_t> after;

    auto fields() const {
      return std::tie(kind, collective, on_host, operations, bytes, duration_s, dimensions, name,
                      obstacle, group, send, after);
    }
    friend bool operator<(const Key& a, const Key& b) { return a.fields() < b.fields(); }
  };

  const Node& node(const Member& member) const {
    return traces_.chips[member.chip].nodes[member.node];
  }
  bool is_single() const { return traces_.chips.size() == 1 && traces_.devices > 1; }

  /// Makes a unit for a node, or adds it to the one of its collective.
  void place(Member member, std::size_t position) {
    const Node& at = node(member);
    if (at.kind == NodeKind::collective && !at.on_host && is_simulated(at.collective))
      return place_collective(member, position);
    if (at.kind == NodeKind::send || at.kind == NodeKind::receive) set_peer(member);
    const std::size_t unit = add({.members = {member}, .position = position});
    if (at.kind == NodeKind::send) sends_[{member.chip, member.peer, at.tag}].push_back(unit);
    if (at.kind == NodeKind::receive) receives_[{member.peer, member.chip, at.tag}].push_back(unit);
  }

  std::size_t add(Unit unit) {
    for (const Member& member : unit.members) unit_of_[member.chip][member.node] = units_.size();
    units_.push_back(std::move(unit));
    return units_.size() - 1;
  }

  /// Traces may leave out the own chip of a send or receive (0).
  void set_peer(Member& member) const {
    const Node& at = node(member);
    if (is_single())
      throw error_at(traces_, member,
                     "needs the traces of all chips; give the prefix of their names");
    const bool sends = at.kind == NodeKind::send;
    const std::uint32_t own = sends ? at.source : at.destination;
    member.peer = sends ? at.destination : at.source;
    if (own != 0 && own != member.chip)
      throw error_at(traces_, member,
                     fmt::format("{} chip {}, but is in the trace of chip {}",
                                 sends ? "sends from" : "receives on", own, member.chip));
    if (member.peer >= traces_.chips.size())
      throw error_at(
          traces_, member,
          fmt::format("{} chip {}, but chips are numbered 0 to {}",
                      sends ? "sends to" : "receives from", member.peer, traces_.chips.size() - 1));
    if (member.peer == member.chip)
      throw error_at(traces_, member,
                     sends ? "sends to its own chip" : "receives from its own chip");
  }

  void place_collective(const Member& member, std::size_t position) {
    const std::string& name = node(member).group;
    std::optional<std::vector<std::uint32_t>> group = chips_of(name);
    if (group && is_single() && group->size() != traces_.devices) group.reset();
    if (!group) {
      add({.members = {member},
           .obstacle = fmt::format("group '{}' is not defined on every chip", name),
           .position = position});
      return;
    }
    if (!is_single() && !std::ranges::binary_search(*group, member.chip))
      throw error_at(
          traces_, member,
          fmt::format("belongs to group '{}', which chip {} is not in", name, member.chip));
    const std::size_t number = collectives_run_[{*group, member.chip}]++;
    std::vector<std::size_t>& of_group = collectives_[*group];
    if (number == of_group.size())
      of_group.push_back(add({.members = {}, .group = *group, .position = position}));
    Unit& unit = units_[of_group[number]];
    if (!unit.members.empty()) check_same(unit.members.front(), member);
    unit.members.push_back(member);
    unit.position = std::min(unit.position, position);
    unit_of_[member.chip][member.node] = of_group[number];
  }

  void check_same(const Member& first, const Member& other) const {
    const Node& one = node(first);
    const Node& two = node(other);
    if (one.collective != two.collective || one.bytes != two.bytes ||
        one.dimensions != two.dimensions)
      throw error_at(
          traces_, other,
          fmt::format("is {} of {:.0f} B, but in its place {} is {} of {:.0f} B; the chips "
                      "of a group run the same collectives in the same order",
                      name(two.collective), two.bytes, node_text(traces_, first),
                      name(one.collective), one.bytes));
  }

  /// Returns the chips of a group, ascending; std::nullopt if the group is unknown.
  std::optional<std::vector<std::uint32_t>> chips_of(const std::string& group) const {
    const auto found = traces_.groups.find(group);
    const bool known = found != traces_.groups.end();
    if (!known && !group.empty() && group != "0") return std::nullopt;
    std::vector<std::uint32_t> chips = known ? found->second : std::vector<std::uint32_t>{};
    if (chips.empty()) {  // empty: all chips
      chips.resize(traces_.devices);
      std::iota(chips.begin(), chips.end(), 0U);
    }
    std::ranges::sort(chips);
    chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
    return chips;
  }

  void check_collectives() const {
    if (is_single()) return;
    for (const auto& [group, units] : collectives_)
      for (const std::size_t unit : units)
        for (const std::uint32_t chip : group)
          if (std::ranges::find(units_[unit].members, chip, &Member::chip) ==
              units_[unit].members.end())
            throw error_at(
                traces_, units_[unit].members.front(),
                fmt::format("is a collective that chip {} of its group does not run", chip));
  }

  void check_messages() {
    for (const auto& [key, sends] : sends_) {
      const std::vector<std::size_t>& receives = receives_[key];
      if (sends.size() > receives.size())
        throw error_at(
            traces_, units_[sends[receives.size()]].members.front(),
            fmt::format("is a send to chip {} with tag {} that this chip does not receive",
                        std::get<1>(key), std::get<2>(key)));
      for (std::size_t i = 0; i < sends.size(); ++i) match(sends[i], receives[i]);
    }
    for (const auto& [key, receives] : receives_) {
      const auto sends = sends_.find(key);
      const std::size_t sent = sends == sends_.end() ? 0 : sends->second.size();
      if (receives.size() > sent)
        throw error_at(
            traces_, units_[receives[sent]].members.front(),
            fmt::format("is a receive from chip {} with tag {} that this chip does not send",
                        std::get<0>(key), std::get<2>(key)));
    }
  }

  void match(std::size_t send, std::size_t receive) {
    const Member& from = units_[send].members.front();
    const Member& to = units_[receive].members.front();
    if (node(from).bytes != node(to).bytes)
      throw error_at(traces_, to,
                     fmt::format("receives {:.0f} B, but {} sends {:.0f} B", node(to).bytes,
                                 node_text(traces_, from), node(from).bytes));
    units_[receive].send = send;
  }

  /// Units that a unit depends on, also through messages.
  std::vector<std::size_t> before(const Unit& unit) const {
    std::vector<std::size_t> all;
    for (const Member& member : unit.members)
      for (const std::size_t other : chips_[member.chip].before[member.node])
        all.push_back(unit_of_[member.chip][other]);
    if (unit.send != kNone) all.push_back(unit.send);
    return all;
  }

  std::vector<std::size_t> unit_order() const {
    std::vector<std::size_t> pending(units_.size());
    std::vector<std::vector<std::size_t>> waiting(units_.size());
    using Next = std::pair<std::size_t, std::size_t>;  // position and unit
    std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const std::vector<std::size_t> all = before(units_[i]);
      for (const std::size_t other : all) waiting[other].push_back(i);
      pending[i] = all.size();
      if (all.empty()) ready.emplace(units_[i].position, i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      order.push_back(ready.top().second);
      ready.pop();
      for (const std::size_t i : waiting[order.back()])
        if (--pending[i] == 0) ready.emplace(units_[i].position, i);
    }
    for (std::size_t i = 0; i < units_.size(); ++i)
      if (pending[i] > 0)
        throw error_at(traces_, units_[i].members.front(),
                       "waits for itself, through messages or collectives of other chips");
    return order;
  }

  Key key_of(const Unit& unit) const {
    const Node& at = node(unit.members.front());
    const bool takes_duration = timed_ || at.operations + at.bytes <= 0.0;
    std::set<std::size_t> after;
    for (const Member& member : unit.members)
      for (const std::size_t other : chips_[member.chip].before[member.node])
        after.insert(merged_of_.at(unit_of_[member.chip][other]));
    return {at.kind,
            at.collective,
            at.on_host,
            at.operations,
            at.bytes,
            at.kind == NodeKind::compute && takes_duration ? at.duration_s : 0.0,
            at.dimensions,
            without_numbers(at.name),
            unit.obstacle,
            unit.group.size(),
            unit.send == kNone ? kNone : merged_of_.at(unit.send),
            {after.begin(), after.end()}};
  }

  /// Adds a unit to the first merged node with its key whose chips are others.
  void merge(std::size_t index) {
    const Unit& unit = units_[index];
    const Key key = key_of(unit);
    std::vector<std::size_t>& alike = alike_[key];
    const auto fits = [&](std::size_t merged) {
      return std::ranges::none_of(unit.members, [&](const Member& member) {
        return taken_[merged].contains({false, member.chip}) ||
               (key.kind == NodeKind::send && taken_[merged].contains({true, member.peer}));
      });
    };
    auto found = std::ranges::find_if(alike, fits);
    if (found == alike.end()) {
      merged_.push_back({.members = {}, .after = key.after, .obstacle = unit.obstacle});
      if (unit.send != kNone) merged_.back().send = key.send;
      taken_.emplace_back();
      alike.push_back(merged_.size() - 1);
      found = std::prev(alike.end());
    }
    merged_of_[index] = *found;
    MergedNode& merged = merged_[*found];
    merged.members.insert(merged.members.end(), unit.members.begin(), unit.members.end());
    if (!unit.group.empty()) merged.groups.push_back(unit.group);
    for (const Member& member : unit.members) {
      taken_[*found].emplace(false, member.chip);
      if (key.kind == NodeKind::send) taken_[*found].emplace(true, member.peer);
    }
  }

  const Traces& traces_;
  bool timed_;
  std::vector<ChipNodes> chips_;
  std::vector<std::vector<std::size_t>> unit_of_;  ///< by chip and node
  std::vector<Unit> units_;
  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> collectives_;  ///< units by group
  std::map<std::pair<std::vector<std::uint32_t>, std::uint32_t>, std::size_t> collectives_run_;
  std::map<MessageKey, std::vector<std::size_t>> sends_;
  std::map<MessageKey, std::vector<std::size_t>> receives_;
  std::map<Key, std::vector<std::size_t>> alike_;
  std::map<std::size_t, std::size_t> merged_of_;  ///< by unit
  /// By merged node: its chips (false), and the chips it sends to (true).
  std::vector<std::set<std::pair<bool, std::uint32_t>>> taken_;
  std::vector<MergedNode> merged_;
};

void check(const Traces& traces) {
  if (traces.chips.empty()) throw std::invalid_argument("no trace given");
  for (const auto& [name, chips] : traces.groups)
    for (const std::uint32_t chip : chips)
      if (chip >= traces.devices)
        throw std::invalid_argument(
            fmt::format("group '{}' contains chip {}, but chips are numbered 0 to {}", name, chip,
                        traces.devices - 1));
}

}  // namespace

std::string without_numbers(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c >= '0' && c <= '9') continue;
    if (c == ' ' && (text.empty() || text.back() == ' ')) continue;
    text.push_back(c);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '_')) text.pop_back();
  return text;
}

std::string node_text(const Traces& traces, const Member& member) {
  const Node& node = traces.chips[member.chip].nodes[member.node];
  const std::string chip =
      traces.chips.size() > 1 ? fmt::format("chip {}, ", member.chip) : std::string();
  return fmt::format("{}node {} ('{}')", chip, node.id, node.name);
}

std::vector<MergedNode> merged_nodes(const Traces& traces, bool timed) {
  check(traces);
  return Merger(traces, timed).merge();
}

}  // namespace equarx::chakra
