#include "sim/engines/simgrid/chip_actor.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/engines/simgrid/platform.hpp"

namespace equarx::sim {

namespace s4u = simgrid::s4u;
using collectives::ChannelId;
using collectives::MessageId;
using collectives::Rank;

namespace {

/// Arrival time of a transfer aborted by a failure.
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Sender to each rank in each channel.
std::vector<collectives::Rank> senders_of(const Machine& machine, std::size_t channels) {
  std::vector<collectives::Rank> senders(machine.ranks() * channels);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const collectives::Rank peer = machine.out_ports[rank][channel].peer;
      if (peer != rank) senders[peer * channels + channel] = rank;
    }
  return senders;
}

bool has_latencies(const Timelines& timelines) {
  return std::ranges::any_of(timelines.lists, [](const std::vector<Step>& list) {
    return std::ranges::any_of(list, [](const Step& step) { return step.latency_s > 0.0; });
  });
}

}  // namespace

Run::Run(const Timelines& timelines, const Machine& machine, bool traced, Progress& progress)
    : timelines(timelines),
      machine(machine),
      channels(machine.out_ports.front().size()),
      traced(traced),
      shared(shares_links(machine)),
      late(shared || has_latencies(timelines)),
      progress(progress),
      received(machine.ranks() * channels),
      senders(senders_of(machine, channels)),
      sent_s(machine.ranks() * channels) {
  result.link_bytes.resize(machine.links.size());
  result.link_busy_s.resize(machine.links.size());
  result.core_busy_s.resize(machine.ranks());
  result.waits.resize(machine.ranks());
  result.marks_s.resize(static_cast<std::size_t>(machine.ranks()) * timelines.marks);
  for (std::size_t event = 0; event < static_cast<std::size_t>(machine.ranks()) * timelines.events;
       ++event)
    events.push_back(s4u::Semaphore::create(0));
  mailboxes.reserve(received.size());
  for (Rank rank = 0; rank < machine.ranks(); ++rank)
    for (ChannelId channel = 0; channel < channels; ++channel)
      mailboxes.push_back(s4u::Mailbox::by_name(fmt::format("{}:{}", rank, channel)));
}

void Run::add_core_event(Rank rank, const Step& step, collectives::InstructionId instruction,
                         double start_s) {
  result.trace.core.push_back(
      {rank, instruction, core_work(step), start_s, s4u::Engine::get_clock()});
}

/// The end of the transfer is observed by a separate actor, because the chips may detect it later.
void Run::add_transfer(Rank from, const OutPort& port, MessageId message, double latency_s,
                       const s4u::CommPtr& comm) {
  const std::size_t event = result.trace.transfers.size();
  result.trace.transfers.push_back({from, port.peer, message, s4u::Engine::get_clock(), kNever});
  const double late_s = (shared ? sim::latency_s(machine, port.route) : 0.0) + latency_s;
  SimgridEngine::start_actor("observer", s4u::this_actor::get_host(), [this, comm, event, late_s] {
    try {
      comm->wait();
    } catch (const simgrid::NetworkFailureException&) {
      return;  // the chips handle it
    }
    result.trace.transfers[event].arrived_s = s4u::Engine::get_clock() + late_s;
  });
}

void Run::drop_lost_transfers() {
  std::erase_if(result.trace.transfers,
                [](const TransferEvent& event) { return event.arrived_s == kNever; });
}

ChipStream::ChipStream(Run& run, Rank rank, std::uint32_t stream)
    : run_(run),
      rank_(rank),
      stream_(stream),
      slowdown_(run.machine.slowdown_of(rank)),
      shares_core_(run.timelines.streams > 1),
      outgoing_(run.channels),
      retired_(run.channels) {
  for (ChannelId channel = 0; channel < run.channels; ++channel) {
    if (run.timelines.stream_of(channel) == stream) receives_.push_back(channel);
    if (run.timelines.sender_of(channel) == stream) sends_.push_back(channel);
  }
}

void ChipStream::run() {
  for (const ChannelId channel : receives_)  // otherwise a DMA would wait for this
    mailbox(rank_, channel)->set_receiver(s4u::Actor::self());  // core to receive it
  s4u::this_actor::yield();                                     // until all chips have done so
  for (const Step& step : run_.timelines.of(rank_, stream_)) {
    instruction_ = step.instruction;
    take(step);
    if (step.kind == Step::Kind::run)
      for (const Step& part : run_.timelines.lists[step.number]) take(part);
  }
  if (failed_) return;
  finish();
  for (const ChannelId channel : sends_)
    while (!outgoing_[channel].empty() && !failed_) retire(channel);
  if (!failed_) run_.progress.at(rank_, stream_).done = true;
}

void ChipStream::take(const Step& step) {
  if (failed_) return;
  run_.progress.active_rank = rank_;
  run_.progress.at(rank_, stream_).instruction = instruction_;
  work(step);
  switch (step.kind) {
    case Step::Kind::work:
    case Step::Kind::start:
    case Step::Kind::compute:
    case Step::Kind::host:
    case Step::Kind::run:
    case Step::Kind::end: return;
    case Step::Kind::send: return send(step);
    case Step::Kind::wait: return wait(step);
    case Step::Kind::signal: return event(step).release();
    case Step::Kind::await: return event(step).acquire();
    case Step::Kind::mark: return mark(step);
  }
}

/// Work aborted by a failure is not counted.
void ChipStream::work(const Step& step) {
  if (step.delay_s <= 0.0 && step.hbm_bytes == 0 && step.least_s <= 0.0) return;
  if (step.kind == Step::Kind::host) return s4u::this_actor::sleep_for(step.delay_s);
  const double start_s = s4u::Engine::get_clock();
  double busy_s = occupy_core(step.delay_s);
  if (step.hbm_bytes > 0) busy_s += access_hbm(step);
  run_.result.core_busy_s[rank_] += busy_s;
  if (run_.traced && busy_s > 0.0) run_.add_core_event(rank_, step, instruction_, start_s);
  const double left_s = start_s + step.least_s * slowdown_ - s4u::Engine::get_clock();
  if (left_s > 0.0) s4u::this_actor::sleep_for(left_s);
}

/// Returns the core time in s.
double ChipStream::occupy_core(double delay_s) {
  if (delay_s <= 0.0) return 0.0;
  const double core_s = delay_s * slowdown_;
  if (shares_core_)
    s4u::this_actor::execute(core_s * kCoreSpeed);
  else
    s4u::this_actor::sleep_for(core_s);
  return core_s;
}

/// The access is a flow from the chip to itself, routed only over its HBM.
/// Returns the time in s for which the core is busy.
double ChipStream::access_hbm(const Step& step) {
  s4u::Host* const host = s4u::this_actor::get_host();
  const s4u::CommPtr bytes = s4u::Comm::sendto_async(host, host, step.hbm_bytes);
  const double core_s = occupy_core(step.overlapped_s);
  const double waits_since_s = s4u::Engine::get_clock();
  bytes->wait();
  add_hbm_access(run_.machine, rank_, step.hbm_bytes, run_.result);
  return shares_core_ ? core_s : core_s + s4u::Engine::get_clock() - waits_since_s;
}

void ChipStream::finish() {
  run_.result.time_s = std::max(run_.result.time_s, s4u::Engine::get_clock());
}

void ChipStream::mark(const Step& step) {
  run_.result.marks_s[rank_ * run_.timelines.marks + step.number] = s4u::Engine::get_clock();
}

s4u::Semaphore& ChipStream::event(const Step& step) const {
  return *run_.events[rank_ * run_.timelines.events + step.number];
}

void ChipStream::send(const Step& step) {
  const ChannelId channel = step.number;
  const OutPort& port = run_.machine.out_ports[rank_][channel];
  // Retire received transfers early: SimGrid scans all pending communications of an actor at every
  // completion, so keep their number small.
  retire_received(channel);
  next_polled_ = (next_polled_ + 1) % sends_.size();
  retire_received(sends_[next_polled_]);
  const double since_s = s4u::Engine::get_clock();
  if (outgoing_[channel].size() >= run_.machine.dma_queue) retire(channel);
  if (failed_) return;
  run_.result.waits[rank_].queue_s += s4u::Engine::get_clock() - since_s;
  run_.sent_s[run_.index(port.peer, channel)].push_back(s4u::Engine::get_clock());
  outgoing_[channel].push_back(
      {mailbox(port.peer, channel)
           ->put_async(const_cast<Step*>(&step),
                       held_bytes(step, bottleneck_rate(run_.machine, port.route))),
       step.message});
  if (run_.traced)
    run_.add_transfer(rank_, port, step.message, step.latency_s, outgoing_[channel].back().comm);
}

void ChipStream::retire(ChannelId channel) {
  const Outgoing oldest = outgoing_[channel].front();
  outgoing_[channel].pop_front();
  ++retired_[channel];
  try {
    oldest.comm->wait();
  } catch (const simgrid::NetworkFailureException&) {
    fail(rank_, channel, oldest.message);
  }
}

void ChipStream::retire_received(ChannelId channel) {
  const OutPort& port = run_.machine.out_ports[rank_][channel];
  // A rank that sends nothing in a channel (e.g. only receives in a permute) is its own peer;
  // messages it receives there must not retire sends.
  if (port.peer == rank_) return;
  const std::uint64_t received = run_.received[run_.index(port.peer, channel)];
  while (retired_[channel] < received) retire(channel);
}

/// Blocks until the next message of a channel has arrived, including its latency.
void ChipStream::receive(const Step& step, void*& arrived) {
  const s4u::CommPtr comm = mailbox(rank_, step.number)->get_init();
  comm->set_dst_data(&arrived, sizeof arrived);
  if (!run_.late) {
    comm->wait();  // start() omitted: saves one of two calls into SimGrid's kernel
    return;
  }
  comm->start();
  double end_s = comm->get_finish_time();  // negative if still in flight
  comm->wait();
  const double now_s = s4u::Engine::get_clock();
  if (end_s < 0.0) end_s = now_s;
  const OutPort& port = run_.machine.out_ports[sender(step.number)][step.number];
  const double late_s = (run_.shared ? latency_s(run_.machine, port.route) : 0.0) +
                        static_cast<const Step*>(arrived)->latency_s;
  const double left_s = end_s + late_s - now_s;
  if (left_s > 0.0) s4u::this_actor::sleep_for(left_s);
}

void ChipStream::wait(const Step& step) {
  void* arrived = nullptr;
  const double since_s = s4u::Engine::get_clock();
  try {
    receive(step, arrived);
  } catch (const simgrid::NetworkFailureException&) {
    return fail(sender(step.number), step.number, step.message);
  }
  std::deque<double>& sent_s = run_.sent_s[run_.index(rank_, step.number)];
  add_wait(since_s, sent_s.front(), s4u::Engine::get_clock(), run_.result.waits[rank_]);
  sent_s.pop_front();
  const Step& sent = *static_cast<const Step*>(arrived);
  if (sent.message != step.message)
    throw std::logic_error(
        fmt::format("received message {} instead of {}", sent.message, step.message));
  ++run_.received[run_.index(rank_, step.number)];
  ++run_.progress.received;
  ++run_.result.messages;
  add_moved(run_.machine, run_.machine.out_ports[sender(step.number)][step.number].route,
            sent.bytes, sent.link_s, run_.result);
}

/// Ends the run: for this chip now, for all others after all simultaneous events.
void ChipStream::fail(Rank from, ChannelId channel, MessageId message) {
  failed_ = true;
  const double now_s = s4u::Engine::get_clock();
  const OutPort& port = run_.machine.out_ports[from][channel];
  note_failure({now_s, from, port.peer, message, broken_link(run_.machine, port.route, now_s)},
               run_.result);
  s4u::this_actor::sleep_for(kFailureInstant);
  s4u::Actor::kill_all();
}

s4u::Mailbox* ChipStream::mailbox(Rank receiver, ChannelId channel) const {
  return run_.mailboxes[run_.index(receiver, channel)];
}

Rank ChipStream::sender(ChannelId channel) const {
  return run_.senders[run_.index(rank_, channel)];
}

}  // namespace equarx::sim
