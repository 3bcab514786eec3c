#include "sim/engines/direct/run_ahead.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/os/parallel_for.hpp"
#include "sim/engines/direct/ahead_block.hpp"

namespace equarx::sim {
namespace {

using collectives::ChannelId;
using collectives::Rank;

/// Messages after which a block passes on what it has sent.
constexpr std::uint64_t kTurn = 32'768;

/// Blocks of chips, run by several threads: each takes the block that has waited longest.
class AheadBlocks {
 public:
  AheadBlocks(Record& record, unsigned blocks) : record_(record), channels_(record) {
    const Rank ranks = record.machine.ranks();
    block_of_.resize(ranks);
    if (blocks > 1) separate_inboxes(blocks);
    for (unsigned number = 0; number < blocks; ++number) {
      slots_.emplace_back(record, channels_, first_of(number, blocks),
                          first_of(number + 1, blocks));
      due_.push_back(number);
    }
  }

  /// Runs all blocks until every chip waits or has ended.
  void run(unsigned threads) {
    if (slots_.size() == 1) {
      AheadBlock& all = slots_.front().block;
      while (all.is_ready()) {
        all.run(kTurn);
        record_.progress.received = all.received();
        record_.watch();
      }
    } else {
      os::parallel_for(threads, threads, [this](std::size_t, unsigned thread) { work(thread); });
      record_.join_inboxes();
      record_.watch();
    }
    for (const Slot& slot : slots_)
      record_.result.time_s = std::max(record_.result.time_s, slot.block.end_s());
  }

 private:
  struct Slot {
    Slot(Record& record, AheadChannels& channels, Rank first, Rank end)
        : block(record, channels, first, end) {}

    AheadBlock block;
    std::vector<AheadBlock::Crossing> arrivals;  ///< to be delivered
    bool due = true;                             ///< queued, or run by a thread
  };

  Rank first_of(unsigned block, unsigned blocks) const {
    return static_cast<Rank>(std::uint64_t{record_.machine.ranks()} * block / blocks);
  }

  void separate_inboxes(unsigned blocks) {
    for (unsigned number = 0; number < blocks; ++number)
      std::fill(block_of_.begin() + first_of(number, blocks),
                block_of_.begin() + first_of(number + 1, blocks), number);
    channels_.receivers.resize(channels_.states.size());
    for (Rank rank = 0; rank < record_.machine.ranks(); ++rank)
      for (ChannelId channel = 0; channel < record_.wiring.channels(); ++channel) {
        const OutPort& port = record_.machine.out_ports[rank][channel];
        if (!port.sends(rank) || block_of_[port.peer] == block_of_[rank]) continue;
        const std::size_t index = record_.wiring.index(rank, channel);
        channels_.states[index] = AheadChannels::State::border;
        channels_.receivers[index] =
            static_cast<std::uint32_t>(record_.separate_inbox(port.peer, channel));
      }
    channels_.states.resize(record_.inboxes.size());
  }

  /// Runs due blocks until none is left or running.
  void work(unsigned thread) {
    std::unique_lock lock(mutex_);
    try {
      for (;;) {
        changed_.wait(lock, [this] { return stopped_ || !due_.empty() || running_ == 0; });
        if (stopped_ || due_.empty()) return;
        const unsigned number = due_.front();
        due_.pop_front();
        ++running_;
        take_turn(number, lock);
        --running_;
        changed_.notify_all();
        if (thread == 0) record_.watch();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      stopped_ = true;
      changed_.notify_all();
      throw;
    }
  }

  /// Runs a block for a while, without the lock, and passes on what it has sent.
  void take_turn(unsigned number, std::unique_lock<std::mutex>& lock) {
    Slot& slot = slots_[number];
    AheadBlock& block = slot.block;
    const std::vector<AheadBlock::Crossing> arrivals = std::exchange(slot.arrivals, {});
    lock.unlock();
    const std::uint64_t before = block.received();
    block.deliver(arrivals);
    block.run(kTurn);
    lock.lock();
    record_.progress.received += block.received() - before;
    slot.due = false;
    for (const AheadBlock::Crossing& crossing : block.leaving()) {
      const unsigned to = block_of_[crossing.receiver];
      slots_[to].arrivals.push_back(crossing);
      make_due(to);
    }
    block.leaving().clear();
    if (block.is_ready() || !slot.arrivals.empty()) make_due(number);
  }

  void make_due(unsigned number) {
    if (std::exchange(slots_[number].due, true)) return;
    due_.push_back(number);
  }

  Record& record_;
  AheadChannels channels_;
  std::vector<unsigned> block_of_;  ///< by rank
  std::deque<Slot> slots_;          ///< by block
  std::mutex mutex_;  ///< of the following, of `arrivals` and `due` of slots, and of the progress
  std::condition_variable changed_;
  std::deque<unsigned> due_;  ///< blocks to be run
  unsigned running_ = 0;      ///< blocks that threads run now
  bool stopped_ = false;      ///< a thread has failed
};

/// Messages that the chips wait for.
std::uint64_t messages_of(const Record& record) {
  const Timelines& timelines = record.timelines;
  std::vector<std::uint64_t> by_list;
  for (const std::vector<Step>& list : timelines.lists) {  // parts precede the lists that run them
    std::uint64_t messages = 0;
    for (const Step& step : list)
      if (step.kind == Step::Kind::wait)
        ++messages;
      else if (step.kind == Step::Kind::run)
        messages += by_list[step.number];
    by_list.push_back(messages);
  }
  std::uint64_t messages = 0;
  for (Rank rank = 0; rank < record.machine.ranks(); ++rank)
    messages += by_list[record.list_of(rank)];
  return messages;
}

}  // namespace

void run_ahead(Record& record, unsigned threads) {
  unsigned blocks = 1;
  if (threads > 1 && !record.traced)
    blocks = static_cast<unsigned>(
        std::clamp<std::uint64_t>(messages_of(record) / kMessagesPerThread, 1, threads));
  run_ahead_in_blocks(record, blocks, threads);
}

void run_ahead_in_blocks(Record& record, unsigned blocks, unsigned threads) {
  const unsigned most = std::max(record.machine.ranks(), 1U);
  AheadBlocks(record, std::min(blocks, most)).run(std::min(threads, blocks));
}

}  // namespace equarx::sim
