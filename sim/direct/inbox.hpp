// Transfers of one channel from one chip to another, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace equarx::sim {

struct Step;

/// A transfer that its sender has started.
struct Transfer {
  static constexpr double kUnderWay = std::numeric_limits<double>::infinity();

  double left_s = kUnderWay;   ///< when its last byte has left the links, or a failure ended it
  const Step* sent = nullptr;  ///< the sender's step
  double sent_s = 0.0;         ///< when its core had started it
  std::uint32_t event = 0;     ///< of the trace, if there is one
  bool failed = false;
};

/// A queue that forgets a transfer when its receiver has taken it, and its sender needs it no longer
/// (dma_queue).
class Inbox {
 public:
  std::uint64_t sent() const { return sent_; }
  std::uint64_t received() const { return received_; }
  std::uint64_t retired() const { return retired_; }
  Transfer& at(std::uint64_t number) { return transfers_[number & (transfers_.size() - 1)]; }
  const Transfer& at(std::uint64_t number) const {
    return transfers_[number & (transfers_.size() - 1)];
  }

  Transfer& push(const Transfer& transfer) {
    if (sent_ - (received_ < retired_ ? received_ : retired_) == transfers_.size()) grow();
    Transfer& place = at(sent_++);
    place = transfer;
    fetch(sent_ + kAhead);
    return place;
  }
  /// The receiver has taken the oldest.
  void receive() { fetch(++received_ + kAhead); }
  /// The sender has seen the oldest leave.
  void retire() { fetch(++retired_ + kAhead); }

 private:
  /// Where receivers are far behind, queues are longer than caches. So those that come next are fetched ahead: as many
  /// as a cache line holds.
  static constexpr std::uint64_t kAhead = 1;
  void fetch(std::uint64_t number) const { __builtin_prefetch(&at(number)); }

  void grow() {
    constexpr std::size_t kFirst = 4;  // a power of two, as all sizes
    std::vector<Transfer> larger(transfers_.empty() ? kFirst : 2 * transfers_.size());
    for (std::uint64_t number = received_ < retired_ ? received_ : retired_; number < sent_;
         ++number)
      larger[number & (larger.size() - 1)] = at(number);
    transfers_ = std::move(larger);
  }

  std::vector<Transfer> transfers_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t retired_ = 0;
};

}  // namespace equarx::sim
