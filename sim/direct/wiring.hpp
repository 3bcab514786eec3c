// Who sends to whom over what, with numbers instead of names.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/machine.hpp"

namespace equarx::sim {

/// Two chips of which the first sends to the second.
struct Pair {
  collectives::Rank from = 0;
  collectives::Rank to = 0;
  const Route* route = nullptr;
  double latency_s = 0.0;
  double rate = 0.0;    ///< B/s of its slowest link
  bool shared = false;  ///< other pairs use one of its links, too
  double fails_at_s =
      std::numeric_limits<double>::infinity();  ///< when the first of its links does
};

/// The pairs of a machine, and whose messages a channel carries.
class Wiring {
 public:
  /// `machine` must outlive it.
  explicit Wiring(const Machine& machine);

  std::size_t channels() const { return channels_; }
  /// Index of what there is for each rank and channel.
  std::size_t index(collectives::Rank rank, collectives::ChannelId channel) const {
    return rank * channels_ + channel;
  }
  /// Index into pairs() of what a rank sends in a channel.
  std::uint32_t pair_of(std::size_t index) const { return pair_of_[index]; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// Pairs whose messages pass each link, and the core of an HBM.
  const std::vector<std::uint32_t>& users() const { return users_; }
  /// Whether any pair shares links, or HBMs with cores.
  bool shares() const { return shares_; }

 private:
  std::size_t channels_;
  bool shares_ = false;
  std::vector<std::uint32_t> pair_of_;  ///< by rank and channel
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> users_;  ///< by link
};

}  // namespace equarx::sim
