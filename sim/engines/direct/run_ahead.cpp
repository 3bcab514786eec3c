#include "sim/engines/direct/run_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace equarx::sim {
namespace {

using collectives::Rank;

class RunAhead {
 public:
  explicit RunAhead(Record& record)
      : record_(record),
        free_s_(record.wiring.pairs().size()),
        waits_(record.inboxes.size()),
        chips_(record.machine.ranks()) {
    for (Rank rank = 0; rank < record.machine.ranks(); ++rank)
      chips_[rank].step = record.steps_of(rank);
  }

  void run() {
    for (Rank rank = 0; rank < record_.machine.ranks(); ++rank) {
      ready_.push_back(rank);
      while (!ready_.empty()) {
        const Rank next = ready_.back();
        ready_.pop_back();
        advance(next);
      }
    }
  }

 private:
  struct Chip {
    const Step* step = nullptr;
    const Step* run = nullptr;  ///< the run whose list contains `step`, if any
    double now_s = 0.0;
    bool waits = false;  ///< blocked in a wait; the core time of the step is already accounted for
  };

  void advance(Rank rank) {
    Chip& chip = chips_[rank];
    const double slowdown = record_.machine.slowdown_of(rank);
    record_.progress.active_rank = rank;
    for (;; ++chip.step) {
      const Step& step = *chip.step;
      if (!chip.waits) work(rank, step, slowdown);
      chip.waits = false;
      if (step.kind == Step::Kind::send) {
        send(rank, step);
      } else if (step.kind == Step::Kind::wait) {
        if (!receive(rank, step)) return;
      } else if (step.kind == Step::Kind::mark) {
        record_.mark(rank, step, chip.now_s);
      } else if (step.kind == Step::Kind::run) {
        chip.run = chip.step;
        chip.step = record_.timelines.lists[step.number].data() - 1;  // before the first
      } else if (step.kind == Step::Kind::end) {
        if (chip.run == nullptr) return record_.finish(rank, 0, chip.now_s);
        chip.step = std::exchange(chip.run, nullptr);
      }
    }
  }

  collectives::InstructionId instruction_of(Rank rank, const Step& step) const {
    return chips_[rank].run != nullptr ? chips_[rank].run->instruction : step.instruction;
  }

  void work(Rank rank, const Step& step, double slowdown) {
    if (step.delay_s <= 0.0 && step.least_s <= 0.0) return;
    if (step.kind == Step::Kind::host) {
      chips_[rank].now_s += step.delay_s;
      return;
    }
    double& now_s = chips_[rank].now_s;
    const double start_s = now_s;
    const double core_s = step.delay_s * slowdown;
    now_s += core_s;
    if (core_s > 0.0)
      record_.add_core_time(rank, step, instruction_of(rank, step), start_s, core_s, now_s);
    now_s = std::max(now_s, start_s + step.least_s * slowdown);
  }

  void send(Rank rank, const Step& step) {
    const std::size_t index = record_.wiring.index(rank, step.number);
    const std::uint32_t pair_number = record_.wiring.pair_of(index);
    const Pair& pair = record_.wiring.pairs()[pair_number];
    Inbox& inbox = record_.inboxes[index];
    double& now_s = chips_[rank].now_s;
    const bool full = inbox.sent() - inbox.retired() >= record_.machine.dma_queue;
    if (full) {
      const double since_s = now_s;
      now_s = std::max(now_s, inbox.at(inbox.retired()).left_s);
      record_.result.waits[rank].queue_s += now_s - since_s;
    }
    while (inbox.retired() < inbox.sent() && inbox.at(inbox.retired()).left_s <= now_s)
      inbox.retire();
    double& free_s = free_s_[pair_number];
    free_s = std::max(now_s + pair.latency_s, free_s) +
             static_cast<double>(held_bytes(step, pair.rate)) / pair.rate;
    inbox.push({free_s, &step, now_s,
                record_.add_transfer(pair, step, now_s, free_s + step.latency_s), false});
    if (!waits_[index]) return;
    waits_[index] = false;
    ready_.push_back(pair.to);
  }

  /// Returns false if the message has not been sent yet.
  bool receive(Rank rank, const Step& step) {
    const std::size_t index = record_.inbox_of(rank, step.number);
    const Inbox& inbox = record_.inboxes[index];
    Chip& chip = chips_[rank];
    if (inbox.received() == inbox.sent()) {
      waits_[index] = true;
      chip.waits = true;
      record_.progress.at(rank).instruction = instruction_of(rank, step);
      return false;
    }
    const Transfer& next = inbox.at(inbox.received());
    const double arrived_s = next.left_s + next.sent->latency_s;
    add_wait(chip.now_s, next.sent_s, arrived_s, record_.result.waits[rank]);
    chip.now_s = std::max(chip.now_s, arrived_s);
    record_.receive(index, step);
    return true;
  }

  Record& record_;
  std::vector<double> free_s_;  ///< by pair: when its link is free, including the latency
  std::vector<char> waits_;     ///< by inbox: true if its receiver waits
  std::vector<Chip> chips_;
  std::vector<Rank> ready_;  ///< chips that can advance
};

}  // namespace

void run_ahead(Record& record) { RunAhead(record).run(); }

}  // namespace equarx::sim
