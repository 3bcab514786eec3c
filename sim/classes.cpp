#include "sim/classes.hpp"

#include <algorithm>
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

/// Channels of a chip, and the links of its messages to each peer.
struct Wires {
  std::vector<std::uint32_t> first;   ///< by channel, the first one to the same peer; kNone if none
  std::vector<std::uint32_t> sender;  ///< by channel, chip whose messages it receives; or kNone
};

std::vector<Wires> wires_of(const Machine& machine) {
  const std::size_t channels = machine.out_ports.empty() ? 0 : machine.out_ports.front().size();
  std::vector<Wires> wires(machine.ranks(), {{}, std::vector<std::uint32_t>(channels, kNone)});
  std::vector<std::uint32_t> first_to(machine.ranks(), kNone);
  for (Rank chip = 0; chip < machine.ranks(); ++chip) {
    const std::vector<OutPort>& ports = machine.out_ports[chip];
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      const Rank peer = ports[channel].peer;
      if (peer != chip) wires[peer].sender[channel] = chip;
      if (peer != chip && first_to[peer] == kNone) first_to[peer] = channel;
      wires[chip].first.push_back(peer == chip ? kNone : first_to[peer]);
    }
    for (const OutPort& port : ports) first_to[port.peer] = kNone;
  }
  return wires;
}

/// A chip, the first channel to one of its peers, and the place of a link on the route there.
struct LinkUser {
  Rank chip = 0;
  std::uint32_t channel = 0;
  std::uint32_t position = 0;
};

/// By link.
std::vector<std::vector<LinkUser>> users_of(const Machine& machine,
                                            const std::vector<Wires>& wires) {
  std::vector<std::vector<LinkUser>> users(machine.links.size());
  for (Rank chip = 0; chip < machine.ranks(); ++chip)
    for (std::uint32_t channel = 0; channel < wires[chip].first.size(); ++channel) {
      if (wires[chip].first[channel] != channel) continue;
      std::uint32_t position = 0;
      for (const LinkIndex link : machine.out_ports[chip][channel].route)
        users[link].push_back({chip, channel, position++});
    }
  return users;
}

/// A user by the class of the chip.
using User = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

/// Partition of chips and links, refined until it is equitable.
class Refinement {
 public:
  Refinement(const Machine& machine, const std::vector<std::uint32_t>& kinds)
      : machine_(machine), wires_(wires_of(machine)), users_(users_of(machine, wires_)) {
    std::vector<std::tuple<std::uint32_t, double, std::vector<std::uint32_t>>> chip_keys;
    for (Rank chip = 0; chip < machine.ranks(); ++chip)
      chip_keys.emplace_back(kinds[chip], machine.slowdown_of(chip), wires_[chip].first);
    chips_ = numbered(chip_keys);
    std::vector<std::tuple<bool, double, double>> link_keys;
    for (LinkIndex link = 0; link < machine.links.size(); ++link)
      link_keys.emplace_back(link >= machine.cables(), machine.links[link].rate,
                             machine.links[link].latency);
    links_ = numbered(link_keys);
  }

  void run() {
    for (std::uint32_t before = 0; before != parts();) {
      before = parts();
      split_links();
      split_chips();
    }
  }

  const std::vector<std::uint32_t>& chips() const { return chips_; }
  const std::vector<std::uint32_t>& links() const { return links_; }

 private:
  using Key = std::vector<std::uint32_t>;

  std::uint32_t parts() const { return count_of(chips_) + count_of(links_); }

  /// By the classes and channels of the messages on each link.
  void split_links() {
    std::vector<Key> keys;
    for (LinkIndex link = 0; link < users_.size(); ++link) {
      std::vector<User> messages;
      for (const LinkUser& user : users_[link])
        messages.emplace_back(chips_[user.chip], user.channel, user.position);
      std::ranges::sort(messages);
      Key& key = keys.emplace_back(Key{links_[link]});
      for (const auto& [chip, channel, position] : messages)
        key.insert(key.end(), {chip, channel, position});
    }
    for (Rank chip = 0; chip < machine_.hbm.size(); ++chip)
      keys[machine_.hbm[chip]].push_back(chips_[chip]);
    links_ = numbered(keys);
  }

  /// By the classes of peers, senders and links.
  void split_chips() {
    std::vector<Key> keys;
    for (Rank chip = 0; chip < machine_.ranks(); ++chip) {
      Key& key = keys.emplace_back(Key{chips_[chip]});
      if (!machine_.hbm.empty()) key.push_back(links_[machine_.hbm[chip]]);
      for (std::uint32_t channel = 0; channel < wires_[chip].first.size(); ++channel) {
        const std::uint32_t sender = wires_[chip].sender[channel];
        key.push_back(sender == kNone ? kNone : chips_[sender]);
        if (wires_[chip].first[channel] != channel) continue;
        const OutPort& port = machine_.out_ports[chip][channel];
        key.insert(key.end(), {chips_[port.peer], static_cast<std::uint32_t>(port.route.size())});
        for (const LinkIndex link : port.route) key.push_back(links_[link]);
      }
    }
    chips_ = numbered(keys);
  }

  const Machine& machine_;
  std::vector<Wires> wires_;
  std::vector<std::vector<LinkUser>> users_;  ///< by link
  std::vector<std::uint32_t> chips_;          ///< part by chip
  std::vector<std::uint32_t> links_;          ///< part by link
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

  /// Sets the users of each group, by one of its links.
  void count_users() {
    const std::vector<std::vector<LinkUser>> users = users_of(machine_, wires_of(machine_));
    for (LinkIndex link = 0; link < users.size(); ++link) {
      if (group_of(link).links++ > 0) continue;
      std::map<User, std::uint32_t> counts;
      for (const LinkUser& user : users[link])
        ++counts[{classes_.class_of[user.chip], user.channel, user.position}];
      for (const auto& [user, count] : counts) {
        group_of(link).users = count;
        if (count != counts.begin()->second)
          made_.obstacle = fmt::format("{} carries unequal numbers of alike messages",
                                       machine_.links[link].name);
      }
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
    std::map<Rank, std::uint32_t> lanes;  // by peer
    for (const OutPort& port : machine_.out_ports[chip]) {
      OutPort& made = ports.emplace_back(OutPort{.peer = classes_.class_of[port.peer]});
      if (port.peer == chip) continue;
      const auto lane = static_cast<std::uint32_t>(lanes.size() + 1);  // 0: nothing sent
      made.lane = lanes.emplace(port.peer, lane).first->second;
      for (const LinkIndex link : port.route) made.route.push_back(group_of(link).number);
    }
  }

  const Machine& machine_;
  const ChipClasses& classes_;
  std::vector<Group> groups_;
  ClassMachine made_;
};

}  // namespace

ChipClasses chip_classes(const Machine& machine, const std::vector<std::uint32_t>& kinds) {
  Refinement parts(machine, kinds);
  parts.run();
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

ChipClasses chip_classes(const Machine& machine, const Timelines& timelines) {
  std::vector<std::vector<std::uint32_t>> lists;
  for (Rank chip = 0; chip < machine.ranks(); ++chip) {
    const auto first = timelines.list_of.begin() + std::ptrdiff_t{chip} * timelines.streams;
    lists.emplace_back(first, first + timelines.streams);
  }
  return chip_classes(machine, numbered(lists));
}

ClassMachine class_machine(const Machine& machine, const ChipClasses& classes) {
  return Builder(machine, classes).build();
}

}  // namespace equarx::sim
