#include "sim/engines/direct/ahead_block.hpp"

#include <algorithm>
#include <utility>

namespace equarx::sim {

using collectives::Rank;

AheadBlock::AheadBlock(Record& record, AheadChannels& channels, Rank first, Rank end)
    : record_(record), channels_(channels), first_(first), chips_(end - first) {
  for (Rank rank = end; rank-- > first;) {  // the first rank starts first
    chip(rank).step = record.steps_of(rank);
    ready_.push_back(rank);
  }
}

void AheadBlock::deliver(const std::vector<Crossing>& arrivals) {
  for (const Crossing& arrival : arrivals) {
    Inbox& inbox = record_.inboxes[arrival.inbox];
    while (inbox.retired() < inbox.received()) inbox.retire();  // the sender has its own inbox
    inbox.push(arrival.transfer);
    AheadChannels::State& state = channels_.states[arrival.inbox];
    if (std::exchange(state, AheadChannels::State::idle) == AheadChannels::State::awaited)
      ready_.push_back(arrival.receiver);
  }
}

void AheadBlock::run(std::uint64_t most) {
  const std::uint64_t until = received_ + most;
  while (!ready_.empty() && received_ < until) {
    const Rank next = ready_.back();
    ready_.pop_back();
    advance(next);
  }
}

void AheadBlock::advance(Rank rank) {
  Chip& chip = this->chip(rank);
  const double slowdown = record_.machine.slowdown_of(rank);
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
      if (chip.run == nullptr) {
        record_.progress.at(rank).done = true;
        end_s_ = std::max(end_s_, chip.now_s);
        return;
      }
      chip.step = std::exchange(chip.run, nullptr);
    }
  }
}

void AheadBlock::work(Rank rank, const Step& step, double slowdown) {
  if (step.delay_s <= 0.0 && step.least_s <= 0.0) return;
  Chip& chip = this->chip(rank);
  if (step.kind == Step::Kind::host) {
    chip.now_s += step.delay_s;
    return;
  }
  const double start_s = chip.now_s;
  const double core_s = step.delay_s * slowdown;
  chip.now_s += core_s;
  if (core_s > 0.0)
    record_.add_core_time(rank, step, instruction_of(chip, step), start_s, core_s, chip.now_s);
  chip.now_s = std::max(chip.now_s, start_s + step.least_s * slowdown);
}

void AheadBlock::send(Rank rank, const Step& step) {
  const std::size_t index = record_.wiring.index(rank, step.number);
  const std::uint32_t pair_number = record_.wiring.pair_of(index);
  const Pair& pair = record_.wiring.pairs()[pair_number];
  Inbox& inbox = record_.inboxes[index];
  double& now_s = chip(rank).now_s;
  const bool full = inbox.sent() - inbox.retired() >= record_.machine.dma_queue;
  if (full) {
    const double since_s = now_s;
    now_s = std::max(now_s, inbox.at(inbox.retired()).left_s);
    record_.result.waits[rank].queue_s += now_s - since_s;
  }
  while (inbox.retired() < inbox.sent() && inbox.at(inbox.retired()).left_s <= now_s)
    inbox.retire();
  double& free_s = channels_.free_s[pair_number];
  free_s = std::max(now_s + pair.latency_s, free_s) +
           static_cast<double>(held_bytes(step, pair.rate)) / pair.rate;
  inbox.push({free_s, &step, now_s,
              record_.add_transfer(pair, step, now_s, free_s + step.latency_s), false});
  AheadChannels::State& state = channels_.states[index];
  if (state == AheadChannels::State::idle) return;
  if (state == AheadChannels::State::border) return export_transfer(index, pair.to);
  state = AheadChannels::State::idle;
  ready_.push_back(pair.to);
}

/// Passes the latest transfer of a sender's inbox on. That inbox only bounds the DMA queue.
void AheadBlock::export_transfer(std::size_t index, Rank receiver) {
  Inbox& inbox = record_.inboxes[index];
  leaving_.push_back({channels_.receivers[index], receiver, inbox.at(inbox.sent() - 1)});
  while (inbox.received() < inbox.retired()) inbox.receive();
}

/// Returns false if the message has not been sent yet.
bool AheadBlock::receive(Rank rank, const Step& step) {
  const std::size_t index = record_.inbox_of(rank, step.number);
  const Inbox& inbox = record_.inboxes[index];
  Chip& chip = this->chip(rank);
  if (inbox.received() == inbox.sent()) {
    channels_.states[index] = AheadChannels::State::awaited;
    chip.waits = true;
    record_.progress.at(rank).instruction = instruction_of(chip, step);
    return false;
  }
  const Transfer& next = inbox.at(inbox.received());
  const double arrived_s = next.left_s + next.sent->latency_s;
  add_wait(chip.now_s, next.sent_s, arrived_s, record_.result.waits[rank]);
  chip.now_s = std::max(chip.now_s, arrived_s);
  record_.receive(rank, index, step);
  ++received_;
  return true;
}

}  // namespace equarx::sim
