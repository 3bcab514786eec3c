#include "sim/classes.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace equarx::sim {
namespace {

using collectives::Rank;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Numbers of distinct keys, in the order of their first occurrence.
template <typename Key>
std::vector<std::uint32_t> numbered(const std::vector<Key>& keys) {
  std::map<Key, std::uint32_t> known;
  std::vector<std::uint32_t> numbers;
  for (const Key& key : keys)
    numbers.push_back(known.emplace(key, static_cast<std::uint32_t>(known.size())).first->second);
  return numbers;
}

std::uint32_t count_of(const std::vector<std::uint32_t>& numbers) {
  return numbers.empty() ? 0 : std::ranges::max(numbers) + 1;
}

/// Channels of a chip, by the peers and lanes to which they lead.
struct Wires {
  std::vector<std::uint32_t> first;   ///< by channel, the first one to its peer and lane; or kNone
  std::vector<std::uint32_t> sender;  ///< by channel, chip whose messages it receives; or kNone
};

std::vector<Wires> wires_of(const Machine& machine) {
  const std::size_t channels = machine.out_ports.empty() ? 0 : machine.out_ports.front().size();
  std::vector<Wires> wires(machine.ranks(), {{}, std::vector<std::uint32_t>(channels, kNone)});
  const std::size_t lanes = machine.lanes();
  std::vector<std::uint32_t> first_to(machine.ranks() * lanes, kNone);
  for (Rank chip = 0; chip < machine.ranks(); ++chip) {
    const std::vector<OutPort>& ports = machine.out_ports[chip];
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      const OutPort& port = ports[channel];
      std::uint32_t& first = first_to[port.peer * lanes + port.lane];
      if (port.sends(chip)) wires[port.peer].sender[channel] = chip;
      if (port.sends(chip) && first == kNone) first = channel;
      wires[chip].first.push_back(port.sends(chip) ? first : kNone);
    }
    for (const OutPort& port : ports) first_to[port.peer * lanes + port.lane] = kNone;
  }
  return wires;
}

/// A chip, the first channel to one of its peers, and the place of a link on the route there.
struct LinkUser {
  Rank chip = 0;
  std::uint32_t channel = 0;
  std::uint32_t position = 0;
};

/// Calls `use(link, user)` for all users of all links.
template <typename Use>
void for_each_user(const Machine& machine, const std::vector<Wires>& wires, const Use& use) {
  for (Rank chip = 0; chip < machine.ranks(); ++chip)
    for (std::uint32_t channel = 0; channel < wires[chip].first.size(); ++channel) {
      if (wires[chip].first[channel] != channel) continue;
      std::uint32_t position = 0;
      for (const LinkIndex link : machine.out_ports[chip][channel].route)
        use(link, LinkUser{chip, channel, position++});
    }
}

/// Two independent 64-bit hashes. Keys with equal ones are taken for equal: 2^-128 for each pair of keys.
struct Hash {
  std::uint64_t one = 0;
  std::uint64_t other = 0;

  /// The finalizer of SplitMix64.
  static std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
  }
  /// Appends to a sequence.
  void append(std::uint64_t value) {
    one = mixed(one * 3 + value + 0x9E3779B97F4A7C15U);
    other = mixed(other * 5 + ~value + 0xD1B54A32D192ED03U);
  }
  /// Adds an element of a multiset.
  void add(const Hash& element) {
    one += element.one;
    other += element.other;
  }
  auto operator<=>(const Hash&) const = default;
};

/// Partition of chips and links, refined until it is equitable.
class Refinement {
 public:
  /// `most`: chips in different parts; refinement ends above it
  Refinement(const Machine& machine, const std::vector<std::uint32_t>& kinds, std::uint32_t most)
      : machine_(machine), wires_(wires_of(machine)), most_(most) {
    std::vector<Hash> chip_keys(machine.ranks());
    for (Rank chip = 0; chip < machine.ranks(); ++chip) {
      chip_keys[chip].append(kinds[chip]);
      chip_keys[chip].append(std::bit_cast<std::uint64_t>(machine.slowdown_of(chip)));
      for (const std::uint32_t first : wires_[chip].first) chip_keys[chip].append(first);
    }
    chips_ = numbered(chip_keys);
    std::vector<std::tuple<bool, double, double>> link_keys;
    for (LinkIndex link = 0; link < machine.links.size(); ++link)
      link_keys.emplace_back(link >= machine.cables(), machine.links[link].rate,
                             machine.links[link].latency);
    links_ = numbered(link_keys);
  }

  /// Returns false if there are more than the most parts of chips.
  bool run() {
    for (std::uint32_t before = 0; before != parts();) {
      if (count_of(chips_) > most_) return false;
      before = parts();
      split_links();
      split_chips();
    }
    return true;
  }

  const std::vector<std::uint32_t>& chips() const { return chips_; }
  const std::vector<std::uint32_t>& links() const { return links_; }

 private:
  std::uint32_t parts() const { return count_of(chips_) + count_of(links_); }

  /// By the classes and channels of the messages on each link.
  void split_links() {
    std::vector<Hash> keys(links_.size());
    for_each_user(machine_, wires_, [&](LinkIndex link, const LinkUser& user) {
      Hash message;
      message.append(std::uint64_t{chips_[user.chip]} << 32U | user.channel);
      message.append(user.position);
      keys[link].add(message);
    });
    for (Rank chip = 0; chip < machine_.hbm.size(); ++chip)
      keys[machine_.hbm[chip]].append(chips_[chip]);
    for (LinkIndex link = 0; link < keys.size(); ++link) keys[link].append(links_[link]);
    links_ = numbered(keys);
  }

  /// By the classes of peers, senders and links.
  void split_chips() {
    std::vector<Hash> keys(chips_.size());
    for (Rank chip = 0; chip < machine_.ranks(); ++chip) {
      Hash& key = keys[chip];
      key.append(chips_[chip]);
      if (!machine_.hbm.empty()) key.append(links_[machine_.hbm[chip]]);
      for (std::uint32_t channel = 0; channel < wires_[chip].first.size(); ++channel) {
        const std::uint32_t sender = wires_[chip].sender[channel];
        key.append(sender == kNone ? kNone : chips_[sender]);
        if (wires_[chip].first[channel] != channel) continue;
        const OutPort& port = machine_.out_ports[chip][channel];
        key.append(std::uint64_t{chips_[port.peer]} << 32U | port.route.size());
        for (const LinkIndex link : port.route) key.append(links_[link]);
      }
    }
    chips_ = numbered(keys);
  }

  const Machine& machine_;
  std::vector<Wires> wires_;
  std::uint32_t most_;
  std::vector<std::uint32_t> chips_;  ///< part by chip
  std::vector<std::uint32_t> links_;  ///< part by link
};

/// Builds the machine of classes.
class Builder {
 public:
  Builder(const Machine& machine, const ChipClasses& classes)
      : machine_(machine), classes_(classes), groups_(count_of(classes.link_groups)) {}

  ClassMachine build() {
    count_users();
    if (!made_.obstacle.empty()) return std::move(made_);
    made_.machine.dma_queue = machine_.dma_queue;
    add_links();
    for (const Rank chip : classes_.firsts) {
      add_ports(chip);
      made_.machine.chip_names.push_back(machine_.chip_names[chip]);
      if (!machine_.slowdown.empty()) made_.machine.slowdown.push_back(machine_.slowdown[chip]);
    }
    return std::move(made_);
  }

 private:
  /// Alike links.
  struct Group {
    std::uint32_t links = 0;
    std::uint32_t users = 1;   ///< chips of a class that use one of the links alike
    LinkIndex number = kNone;  ///< of the link that represents them; kNone if none of them is used
  };

  Group& group_of(LinkIndex link) { return groups_[classes_.link_groups[link]]; }

  /// A user by the class of the chip.
  using User = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  /// Sets the users of each group, by its first link.
  void count_users() {
    std::vector<LinkIndex> firsts;  // by group
    for (LinkIndex link = 0; link < machine_.links.size(); ++link) {
      const std::uint32_t group = classes_.link_groups[link];
      if (group == firsts.size()) firsts.push_back(link);
      ++groups_[group].links;
    }
    std::vector<std::map<User, std::uint32_t>> counts(groups_.size());
    for_each_user(machine_, wires_of(machine_), [&](LinkIndex link, const LinkUser& user) {
      const std::uint32_t group = classes_.link_groups[link];
      if (firsts[group] == link)
        ++counts[group][{classes_.class_of[user.chip], user.channel, user.position}];
    });
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (const auto& [user, count] : counts[group]) {
        groups_[group].users = count;
        if (count != counts[group].begin()->second)
          made_.obstacle = fmt::format("{} carries unequal numbers of alike messages",
                                       machine_.links[firsts[group]].name);
      }
  }

  /// HBMs follow the links between chips.
  void add_links() {
    for (const Rank chip : classes_.firsts)
      for (const OutPort& port : machine_.out_ports[chip])
        for (const LinkIndex link : port.route)
          if (link < machine_.cables()) add_link(link);
    if (machine_.hbm.empty()) return;
    for (const Rank chip : classes_.firsts)
      made_.machine.hbm.push_back(add_link(machine_.hbm[chip]));
  }

  LinkIndex add_link(LinkIndex link) {
    Group& group = group_of(link);
    if (group.number != kNone) return group.number;
    LinkSpec& made = made_.machine.links.emplace_back(machine_.links[link]);
    made.rate /= group.users;
    made.users = group.users;
    made_.link_weights.push_back(std::uint64_t{group.links} * group.users);
    return group.number = static_cast<LinkIndex>(made_.machine.links.size() - 1);
  }

  void add_ports(Rank chip) {
    std::vector<OutPort>& ports = made_.machine.out_ports.emplace_back();
    std::map<std::pair<Rank, std::uint32_t>, std::uint32_t> lanes;  // by peer and its lane
    for (const OutPort& port : machine_.out_ports[chip]) {
      OutPort& made = ports.emplace_back(OutPort{.peer = classes_.class_of[port.peer]});
      if (!port.sends(chip)) continue;
      const auto lane = static_cast<std::uint32_t>(lanes.size() + 1);  // 0: nothing sent
      made.lane = lanes.emplace(std::pair(port.peer, port.lane), lane).first->second;
      for (const LinkIndex link : port.route) made.route.push_back(group_of(link).number);
    }
  }

  const Machine& machine_;
  const ChipClasses& classes_;
  std::vector<Group> groups_;
  ClassMachine made_;
};

}  // namespace

std::optional<ChipClasses> few_classes(const Machine& machine,
                                       const std::vector<std::uint32_t>& kinds,
                                       std::uint32_t most) {
  Refinement parts(machine, kinds, most);
  if (!parts.run()) return std::nullopt;
  ChipClasses classes{parts.chips(), {}, {}, parts.links()};
  for (Rank chip = 0; chip < machine.ranks(); ++chip) {
    const std::uint32_t number = classes.class_of[chip];
    if (number == classes.firsts.size()) {
      classes.firsts.push_back(chip);
      classes.sizes.push_back(0);
    }
    ++classes.sizes[number];
  }
  return classes;
}

ChipClasses chip_classes(const Machine& machine, const std::vector<std::uint32_t>& kinds) {
  return *few_classes(machine, kinds, machine.ranks());
}

std::vector<std::uint32_t> chip_kinds(const Timelines& timelines) {
  std::vector<std::vector<std::uint32_t>> chips;
  for (auto list = timelines.list_of.begin(); list != timelines.list_of.end();
       list += timelines.streams)
    chips.emplace_back(list, list + timelines.streams);
  return numbered(chips);
}

std::shared_ptr<const MachineByClass> by_class(const Machine& machine,
                                               const std::vector<std::uint32_t>& kinds) {
  std::optional<ChipClasses> classes = few_classes(machine, kinds, machine.ranks() / 2);
  if (!classes) return nullptr;
  ClassMachine made = class_machine(machine, *classes);
  if (!made.obstacle.empty()) return nullptr;
  return std::make_shared<const MachineByClass>(
      MachineByClass{*std::move(classes), std::move(made.machine)});
}

ClassMachine class_machine(const Machine& machine, const ChipClasses& classes) {
  return Builder(machine, classes).build();
}

}  // namespace equarx::sim
