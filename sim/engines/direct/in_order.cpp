#include "sim/engines/direct/in_order.hpp"

#include <algorithm>
#include <utility>

namespace equarx::sim {

using collectives::ChannelId;
using collectives::Rank;

InOrder::InOrder(Record& record, bool jumps)
    : record_(record),
      links_(record.machine, record.wiring, record.timelines.streams),
      streams_(record.timelines.streams),
      shares_core_(streams_ > 1),
      lists_(std::size_t{record.machine.ranks()} * streams_),
      cores_(shares_core_ ? record.machine.ranks() : 0, SharedCore(streams_)),
      core_ends_(cores_.size()),
      events_(static_cast<std::size_t>(record.machine.ranks()) * record.timelines.events),
      free_s_(record.wiring.pairs().size()),
      receiver_waits_(record.inboxes.size(), kNoList),
      sender_waits_(record.inboxes.size(), kNoList),
      failures_(record.machine.failures) {
  std::ranges::sort(failures_, std::greater<>(), &LinkFailure::time_s);
  for (ListId list = 0; list < lists_.size(); ++list) {
    lists_[list].step = record.steps_of(rank_of(list), stream_of(list));
    schedule(list, 0.0);
  }
  if (jumps && Jumps::may_jump(record)) jumps_.emplace(*this);
}

/// At equal times, transfers complete before links fail, and chips resume after both.
bool InOrder::run() {
  for (;;) {
    const double left_s = links_.next_s();
    const double alarm_s = alarms_.empty() ? kNever : alarms_.top().time_s;
    const double failure_s = failures_.empty() ? kNever : failures_.back().time_s;
    const double core_s = core_ends_.earliest_s();
    const double next_s = std::min({left_s, alarm_s, core_s});
    if (next_s == kNever || next_s > last_s_) break;
    now_s_ = std::min(next_s, failure_s);
    if (left_s <= now_s_) {
      leave(links_.leave(now_s_), false);
    } else if (failure_s <= now_s_) {
      const LinkIndex link = failures_.back().link;
      failures_.pop_back();
      leave(links_.fail(link, now_s_), true);
    } else if (core_s <= now_s_) {
      const Rank rank = core_ends_.earliest();
      resume(rank * streams_ + static_cast<ListId>(cores_[rank].first_to_end()));
    } else {
      const Alarm alarm = alarms_.top();
      alarms_.pop();
      if (lists_[alarm.list].due_s == alarm.time_s) resume(alarm.list);
    }
  }
  drop_lost_transfers();
  const bool done = std::ranges::all_of(record_.progress.lists, &Progress::List::done);
  return done || record_.result.failure.has_value();
}

void InOrder::leave(std::span<const SharedLinks::Cargo> gone, bool failed) {
  for (const SharedLinks::Cargo& cargo : gone) {
    if (cargo.inbox == SharedLinks::kCore) {
      end_access(static_cast<ListId>(cargo.number));
      continue;
    }
    Transfer& transfer = record_.inboxes[cargo.inbox].at(cargo.number);
    transfer.left_s = now_s_;
    transfer.failed = failed;
    const Pair& pair = record_.wiring.pairs()[record_.wiring.pair_of(cargo.inbox)];
    if (record_.traced && !failed)
      record_.result.trace.transfers[transfer.event].arrived_s =
          now_s_ + pair.latency_s + transfer.sent->latency_s;
    wake(receiver_waits_[cargo.inbox]);
    wake(sender_waits_[cargo.inbox]);
  }
}

/// Schedules the waiting stream, if any, to retry now.
void InOrder::wake(ListId& waiting) {
  if (waiting == kNoList) return;
  schedule(waiting, now_s_);
  waiting = kNoList;
}

void InOrder::schedule(ListId list, double time_s) {
  lists_[list].due_s = time_s;
  lists_[list].order = order_;
  alarms_.push({time_s, order_++, list});
}

/// Advances a stream until it waits, then updates the finish time of its core once.
void InOrder::resume(ListId id) {
  advance(id);
  if (shares_core_) update_core_end(rank_of(id));
}

void InOrder::advance(ListId id) {
  List& list = lists_[id];
  list.due_s = kNever;
  record_.progress.active_rank = rank_of(id);
  for (;;) {
    const Step& step = *list.step;
    switch (list.phase) {
      case Phase::before_work:
        record_.progress.at(rank_of(id), stream_of(id)).instruction = instruction_of(list);
        list.phase = Phase::working;
        list.start_s = now_s_;
        if (step.delay_s > 0.0)
          return step.kind == Step::Kind::host ? schedule(id, now_s_ + step.delay_s)
                                               : take_core(id, step.delay_s);
        break;
      case Phase::working:
        leave_core(id);
        list.phase = Phase::accessing;
        if (step.hbm_bytes > 0) return begin_access(id, step);
        break;
      case Phase::accessing:
        leave_core(id);
        if (list.on_hbm) return;  // end_access() resumes
        record_work(id, step);
        list.phase = Phase::lasting;
        if (const double end_s = least_end_s(id, step); end_s > now_s_) return schedule(id, end_s);
        break;
      case Phase::lasting:
        list.phase = Phase::acting;
        list.acts_s = now_s_;
        break;
      case Phase::acting:
        if (!act(id, step)) return;
        if (list.phase == Phase::draining) break;
        go_on(id);
        break;
      case Phase::draining:
        if (drain(id)) list.phase = Phase::over;
        return;
      case Phase::over: return;
    }
  }
}

/// To the step after the current one, which is done.
void InOrder::go_on(ListId id) {
  List& list = lists_[id];
  list.phase = Phase::before_work;
  switch (list.step->kind) {
    case Step::Kind::run:
      list.run = list.step;
      list.step = record_.timelines.lists[list.run->number].data();
      if (jumps_) jumps_->enter(id);
      return;
    case Step::Kind::end: list.step = std::exchange(list.run, nullptr) + 1; return;
    default: ++list.step;
  }
  if (list.step == list.jump) jumps_->pass(id);
}

/// The stream resumes when its bytes have moved and its core time is over.
void InOrder::begin_access(ListId id, const Step& step) {
  lists_[id].on_hbm = true;
  links_.access(id, static_cast<double>(step.hbm_bytes), now_s_);
  lists_[id].core_s = now_s_;
  if (step.overlapped_s > 0.0) take_core(id, step.overlapped_s);
}

void InOrder::end_access(ListId id) {
  List& list = lists_[id];
  list.on_hbm = false;
  if (!list.on_core) schedule(id, now_s_);
}

double InOrder::least_end_s(ListId id, const Step& step) const {
  return lists_[id].start_s + step.least_s * record_.machine.slowdown_of(rank_of(id));
}

void InOrder::take_core(ListId id, double delay_s) {
  lists_[id].on_core = true;
  const double core_s = delay_s * record_.machine.slowdown_of(rank_of(id));
  if (!shares_core_) return schedule(id, now_s_ + core_s);
  SharedCore& core = cores_[rank_of(id)];
  core.begin(stream_of(id), core_s, now_s_);
}

/// No-op if the stream is not on the core.
void InOrder::leave_core(ListId id) {
  List& list = lists_[id];
  if (!list.on_core) return;
  list.on_core = false;
  list.core_s = now_s_;
  if (!shares_core_) return;
  cores_[rank_of(id)].end(stream_of(id), now_s_);
}

/// Updates the first finish time on a shared core after a stream has begun or ended work.
void InOrder::update_core_end(Rank rank) {
  const SharedCore& core = cores_[rank];
  if (core.idle())
    core_ends_.erase(rank);
  else
    core_ends_.set(rank, core.end_s(core.first_to_end()));
}

/// A core that waits for HBM counts as busy unless other streams can use it.
void InOrder::record_work(ListId id, const Step& step) {
  if (step.delay_s <= 0.0 && step.hbm_bytes == 0) return;
  if (step.kind == Step::Kind::host) return;
  const Rank rank = rank_of(id);
  double core_s = (step.delay_s + step.overlapped_s) * record_.machine.slowdown_of(rank);
  if (step.hbm_bytes > 0) {
    add_hbm_access(record_.machine, rank, step.hbm_bytes, record_.result);
    if (!shares_core_) core_s += now_s_ - lists_[id].core_s;
  }
  record_.add_core_time(rank, step, instruction_of(lists_[id]), lists_[id].start_s, core_s, now_s_);
}

/// Returns true if the step is done; otherwise the stream resumes when scheduled or woken.
bool InOrder::act(ListId id, const Step& step) {
  switch (step.kind) {
    case Step::Kind::work:
    case Step::Kind::start:
    case Step::Kind::compute:
    case Step::Kind::host:
    case Step::Kind::run: return true;
    case Step::Kind::send: return send(id, step);
    case Step::Kind::wait: return receive(id, step);
    case Step::Kind::signal: {
      Event& event = event_of(id, step);
      ++event.happened;
      wake(event.waiting);
      return true;
    }
    case Step::Kind::await: return await(id, event_of(id, step));
    case Step::Kind::mark: record_.mark(rank_of(id), step, now_s_); return true;
    case Step::Kind::end:
      if (lists_[id].run != nullptr) return true;
      record_.finish(rank_of(id), stream_of(id), now_s_);
      lists_[id].phase = Phase::draining;
      return true;
  }
  return true;
}

bool InOrder::await(ListId id, Event& event) {
  if (event.happened == 0) {
    event.waiting = id;
    return false;
  }
  --event.happened;
  return true;
}

bool InOrder::send(ListId id, const Step& step) {
  const std::size_t index = record_.wiring.index(rank_of(id), step.number);
  Inbox& inbox = record_.inboxes[index];
  while (inbox.sent() - inbox.retired() >= record_.machine.dma_queue)
    if (!retire_oldest(id, index)) return false;
  record_.result.waits[rank_of(id)].queue_s += now_s_ - lists_[id].acts_s;
  start(index, step);
  return true;
}

/// Retires the oldest transfer of a sender. Returns false if the sender must wait for it to leave.
bool InOrder::retire_oldest(ListId id, std::size_t index) {
  Inbox& inbox = record_.inboxes[index];
  const Transfer& oldest = inbox.at(inbox.retired());
  if (oldest.left_s == Transfer::kUnderWay) {
    sender_waits_[index] = id;
    return false;
  }
  if (oldest.left_s > now_s_) {
    schedule(id, oldest.left_s);
    return false;
  }
  if (oldest.failed) {
    stop_at_failure(id, index, oldest);
    return false;
  }
  inbox.retire();
  return true;
}

/// Starts a transfer. On exclusive links its end time is known immediately, up to link failures.
void InOrder::start(std::size_t index, const Step& step) {
  const std::uint32_t number = record_.wiring.pair_of(index);
  const Pair& pair = record_.wiring.pairs()[number];
  Inbox& inbox = record_.inboxes[index];
  const auto bytes = static_cast<double>(held_bytes(step, pair.rate));
  Transfer transfer{Transfer::kUnderWay, &step, now_s_, 0, false};
  // With shared links, latency is not modelled on the link but in receive().
  const bool shares = record_.wiring.shares();
  if (pair.fails_at_s <= now_s_) {
    transfer.left_s = now_s_;
    transfer.failed = true;
  } else if (!pair.shared) {
    double& free_s = free_s_[number];
    free_s = std::max(now_s_ + (shares ? 0.0 : pair.latency_s), free_s) + bytes / pair.rate;
    transfer.left_s = std::min(free_s, pair.fails_at_s);
    transfer.failed = free_s > pair.fails_at_s;
  }
  const bool arrives = transfer.left_s != Transfer::kUnderWay && !transfer.failed;
  transfer.event = record_.add_transfer(
      pair, step, now_s_,
      arrives ? transfer.left_s + (shares ? pair.latency_s : 0.0) + step.latency_s : kNever);
  if (transfer.left_s == Transfer::kUnderWay)
    links_.send(number, bytes, {index, inbox.sent()}, now_s_);
  inbox.push(transfer);
  wake(receiver_waits_[index]);
}

bool InOrder::receive(ListId id, const Step& step) {
  const std::size_t index = record_.inbox_of(rank_of(id), step.number);
  const Inbox& inbox = record_.inboxes[index];
  if (inbox.received() == inbox.sent() ||
      inbox.at(inbox.received()).left_s == Transfer::kUnderWay) {
    receiver_waits_[index] = id;
    return false;
  }
  const Transfer& next = inbox.at(inbox.received());
  const bool adds_latency = record_.wiring.shares() && !next.failed;
  const Pair& pair = record_.wiring.pairs()[record_.wiring.pair_of(index)];
  const double ready_s = next.left_s + (adds_latency ? pair.latency_s : 0.0) +
                         (next.failed ? 0.0 : next.sent->latency_s);
  if (ready_s > now_s_) {
    schedule(id, ready_s);
    return false;
  }
  if (next.failed) {
    stop_at_failure(id, index, next);
    return false;
  }
  add_wait(lists_[id].acts_s, next.sent_s, now_s_, record_.result.waits[rank_of(id)]);
  record_.receive(rank_of(id), index, step);
  record_.count_received();
  return true;
}

/// After its last step, a stream waits for its outstanding transfers, as they may fail. Returns
/// true when all have left.
bool InOrder::drain(ListId id) {
  if (record_.machine.failures.empty()) return true;
  for (ChannelId& channel = lists_[id].channel; channel < record_.wiring.channels(); ++channel) {
    if (record_.timelines.sender_of(channel) != stream_of(id)) continue;
    const std::size_t index = record_.wiring.index(rank_of(id), channel);
    const Inbox& inbox = record_.inboxes[index];
    while (inbox.retired() < inbox.sent())
      if (!retire_oldest(id, index)) return false;
  }
  return true;
}

/// A chip detects a failed transfer and stops.
void InOrder::stop_at_failure(ListId id, std::size_t index, const Transfer& transfer) {
  const Pair& pair = record_.wiring.pairs()[record_.wiring.pair_of(index)];
  note_failure({now_s_, pair.from, pair.to, transfer.sent->message,
                broken_link(record_.machine, *pair.route, now_s_)},
               record_.result);
  last_s_ = std::min(last_s_, now_s_ + kFailureInstant);
  lists_[id].phase = Phase::over;
}

/// Removes transfers from the trace that never left.
void InOrder::drop_lost_transfers() {
  std::erase_if(record_.result.trace.transfers, [&](const TransferEvent& event) {
    if (event.arrived_s == kNever) return true;
    if (last_s_ == kNever) return false;
    double latency = 0.0;
    if (record_.wiring.shares())
      for (const OutPort& port : record_.machine.out_ports[event.sender])
        if (port.peer == event.receiver) latency = latency_s(record_.machine, port.route);
    return event.arrived_s - latency > last_s_;
  });
}

}  // namespace equarx::sim
