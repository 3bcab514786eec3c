// FIFO of the transfers of one channel between two chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace equarx::sim {

struct Step;

/// A started transfer.
struct Transfer {
  static constexpr double kUnderWay = std::numeric_limits<double>::infinity();

  double left_s = kUnderWay;   ///< when its last byte left the links, or a failure aborted it
  const Step* sent = nullptr;  ///< step of the sender
  double sent_s = 0.0;         ///< when the sender's core had started it
  std::uint32_t event = 0;     ///< index in the trace, if traced
  bool failed = false;
};

/// Ring buffer that drops a transfer once its receiver has received it and its sender has retired
/// it (dma_queue).
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
    Transfer& slot = at(sent_++);
    slot = transfer;
    fetch(sent_ + kAhead);
    return slot;
  }
  /// The receiver has received the oldest transfer.
  void receive() { fetch(++received_ + kAhead); }
  /// The sender has retired its oldest transfer.
  void retire() { fetch(++retired_ + kAhead); }

 private:
  /// Prefetch distance. Queues of lagging receivers exceed the caches, so the next entries are
  /// prefetched, one cache line ahead.
  static constexpr std::uint64_t kAhead = 1;
  void fetch(std::uint64_t number) const { __builtin_prefetch(&at(number)); }

  void grow() {
    constexpr std::size_t kFirst = 4;  // all sizes are powers of two
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
