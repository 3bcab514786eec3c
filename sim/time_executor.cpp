#include "sim/time_executor.hpp"

#include <deque>
#include <memory>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <unistd.h>

#include "sim/child_process.hpp"
#include "sim/chip_actor.hpp"
#include "sim/result_bytes.hpp"
#include "sim/simgrid_platform.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {
namespace {

namespace s4u = simgrid::s4u;
<<<<<<< HEAD
=======
using collectives::ChannelId;
using collectives::MessageId;
using detail::Progress;

/// What all chips of a run share. Actors take turns in one thread, so nothing here needs a lock.
struct Run {
  const Timelines& timelines;
  const Machine& machine;
  Progress& progress;
  std::size_t channels;
  std::vector<s4u::Mailbox*> mailboxes;    ///< of the receiver, by rank and channel
  std::vector<std::uint64_t> received;     ///< messages that a rank has waited for, likewise
  std::vector<collectives::Rank> senders;  ///< who sends to a rank, likewise
  TimeResult result;

  std::size_t index(collectives::Rank rank, ChannelId channel) const {
    return rank * channels + channel;
  }
};

/// Who sends to each rank in each channel.
std::vector<collectives::Rank> senders_of(const Machine& machine, std::size_t channels) {
  std::vector<collectives::Rank> senders(machine.ranks() * channels);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::size_t channel = 0; channel < channels; ++channel)
      senders[machine.ways[rank][channel].peer * channels + channel] = rank;
  return senders;
}

/// One chip: a core that runs the list in order, and the DMAs that it has started.
class Chip {
 public:
  Chip(Run& run, collectives::Rank rank)
      : run_(run),
        rank_(rank),
        slowdown_(run.machine.slowdown_of(rank)),
        outgoing_(run.channels),
        retired_(run.channels) {}

  void live() {
    for (ChannelId channel = 0; channel < run_.channels; ++channel)  // or a DMA would wait for this
      mailbox(rank_, channel)->set_receiver(s4u::Actor::self());     // core to receive it
    s4u::this_actor::yield();                                        // until every chip has done so
    for (const Step& step : run_.timelines.of(rank_)) {
      take(step);
      if (run_.result.failure) return s4u::Actor::kill_all();
    }
    for (ChannelId channel = 0; channel < run_.channels; ++channel)
      while (!outgoing_[channel].empty() && !run_.result.failure) retire(channel);
    if (run_.result.failure) return s4u::Actor::kill_all();
    run_.result.time_s = std::max(run_.result.time_s, finished_s_);
    run_.progress.chips[rank_].done = true;
  }

 private:
  struct Outgoing {
    s4u::CommPtr comm;
    MessageId message;
  };

  void take(const Step& step) {
    run_.progress.active_rank = rank_;
    run_.progress.chips[rank_].instruction = step.instruction;
    if (step.delay_s > 0.0) {
      s4u::this_actor::sleep_for(step.delay_s * slowdown_);
      run_.result.core_busy_s[rank_] += step.delay_s * slowdown_;
    }
    switch (step.kind) {
      case Step::Kind::send: return send(step);
      case Step::Kind::wait: return wait(step);
      case Step::Kind::end: finished_s_ = s4u::Engine::get_clock(); return;
    }
  }

  void send(const Step& step) {
    const ChannelId channel = step.channel;
    const Way& way = run_.machine.ways[rank_][channel];
    // Those that the receiver has waited for are done: SimGrid searches all that an actor has not yet
    // waited for at every completion, so the shorter that list the better. Channels take turns besides: one
    // whose axis is done would keep its last transfers to the end.
    retire_received(channel);
    swept_ = (swept_ + 1) % static_cast<ChannelId>(run_.channels);
    retire_received(swept_);
    if (outgoing_[channel].size() >= run_.machine.dma_queue) retire(channel);
    if (run_.result.failure) return;
    outgoing_[channel].push_back(
        {mailbox(way.peer, channel)->put_async(const_cast<Step*>(&step), held_bytes(step, way)),
         step.message});
  }

  /// The transfer's bytes, and those that could pass while it holds its slowest link besides.
  std::uint64_t held_bytes(const Step& step, const Way& way) const {
    if (step.link_s == 0.0) return step.bytes;
    double rate = std::numeric_limits<double>::infinity();
    for (const LinkIndex link : way.route) rate = std::min(rate, run_.machine.links[link].rate);
    return step.bytes + static_cast<std::uint64_t>(std::llround(step.link_s * rate));
  }

  /// Those of a channel that the receiver has waited for.
  void retire_received(ChannelId channel) {
    const collectives::Rank peer = run_.machine.ways[rank_][channel].peer;
    const std::uint64_t received = run_.received[run_.index(peer, channel)];
    while (retired_[channel] < received) retire(channel);
  }

  void retire(ChannelId channel) {
    const Outgoing oldest = outgoing_[channel].front();
    outgoing_[channel].pop_front();
    ++retired_[channel];
    try {
      oldest.comm->wait();
    } catch (const simgrid::NetworkFailureException&) {
      fail(rank_, channel, oldest.message);
    }
  }

  void wait(const Step& step) {
    void* arrived = nullptr;
    try {
      mailbox(rank_, step.channel)->get_init()->set_dst_data(&arrived, sizeof arrived)->wait();
    } catch (const simgrid::NetworkFailureException&) {
      return fail(sender(step.channel), step.channel, step.message);
    }
    const Step& sent = *static_cast<const Step*>(arrived);
    if (sent.message != step.message)
      throw std::logic_error(
          fmt::format("received message {} instead of {}", sent.message, step.message));
    ++run_.received[run_.index(rank_, step.channel)];
    ++run_.result.messages;
    for (const LinkIndex link : run_.machine.ways[sender(step.channel)][step.channel].route) {
      run_.result.link_bytes[link] += sent.bytes;
      run_.result.link_busy_s[link] +=
          static_cast<double>(sent.bytes) / run_.machine.links[link].rate + sent.link_s;
    }
  }

  /// Keeps the first failure that any chip notices.
  void fail(collectives::Rank from, ChannelId channel, MessageId message) {
    if (run_.result.failure) return;
    const double now = s4u::Engine::get_clock();
    const Way& way = run_.machine.ways[from][channel];
    TransferFailure failure{now, from, way.peer, message, way.route.front()};
    for (const LinkIndex link : way.route)
      for (const LinkFailure& broken : run_.machine.failures)
        if (broken.link == link && broken.time_s <= now) failure.link = link;
    run_.result.failure = failure;
    run_.result.time_s = now;
  }

  s4u::Mailbox* mailbox(collectives::Rank receiver, ChannelId channel) const {
    return run_.mailboxes[run_.index(receiver, channel)];
  }
  collectives::Rank sender(ChannelId channel) const {
    return run_.senders[run_.index(rank_, channel)];
  }

  Run& run_;
  collectives::Rank rank_;
  double slowdown_;
  std::vector<std::deque<Outgoing>> outgoing_;  // by channel
  std::vector<std::uint64_t> retired_;          // by channel
  ChannelId swept_ = 0;                         // whose turn it was last
  double finished_s_ = 0.0;
};

>>>>>>> exptests
/// Turns links off when their time has come.
void break_links(const Machine& machine, SimgridEngine& platform) {
  for (const LinkFailure& failure : machine.failures) {
    s4u::Link* link = platform.link(failure.link);
    SimgridEngine::start_actor("failure", platform.host(0), [link, failure] {
      s4u::this_actor::sleep_until(failure.time_s);
      link->turn_off();
    })->daemonize();
  }
}

std::string place_of(const collectives::Program& program, const Machine& machine,
                     const Progress& progress, std::uint32_t rank) {
  return fmt::format("chip {} (rank {}) at: {}", machine.chip_names[rank], rank,
                     describe(program, progress.chips[rank].instruction));
}

std::string explain(const collectives::Program& program, const Machine& machine,
                    const Progress& progress, const std::string& failure) {
  if (!progress.deadlocked)
    return fmt::format("the simulation crashed ({}); last active: {}", failure,
                       place_of(program, machine, progress, progress.active_rank));
  constexpr std::size_t kShown = 4;
  std::string text = "the simulation deadlocked";
  std::size_t stuck = 0;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank) {
    if (progress.chips[rank].done) continue;
    if (stuck < kShown) text += "; " + place_of(program, machine, progress, rank);
    ++stuck;
  }
  return stuck > kShown ? fmt::format("{}; and {} more chips", text, stuck - kShown) : text;
}

}  // namespace

namespace detail {

TimeResult simulate_here(const collectives::Program& program, const Machine& machine,
                         const Costs& costs, const SimulationOptions& options, Progress& progress) {
  const Timelines timelines =
      make_timelines(program, costs, machine.ranks(), options.schedule, options.traced);
  SimgridEngine platform(machine);
  Run run(timelines, machine, program.channels.size(), options.traced, progress);
  std::deque<Chip> chips;
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    Chip& chip = chips.emplace_back(run, rank);
    SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank),
                               [&chip] { chip.live(); });
    if (!timelines.beside.empty())
      SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank),
                                 [&chip] { chip.compute(); });
  }
  break_links(machine, platform);
  s4u::Engine::on_deadlock_cb([&progress] {
    progress.deadlocked = true;
    _exit(1);
  });
  platform.engine().run();
  run.drop_lost_transfers();
  return run.result;
}

}  // namespace detail

TimeResult simulate(const collectives::Program& program, const Machine& machine, const Costs& costs,
                    const SimulationOptions& options) {
  const std::size_t chips_bytes = machine.ranks() * sizeof(Progress::Chip);
  const SharedMemory memory(sizeof(Progress) + chips_bytes);
  auto* progress = std::construct_at(static_cast<Progress*>(memory.data()));
  auto* chips = reinterpret_cast<Progress::Chip*>(progress + 1);
  std::uninitialized_value_construct_n(chips, machine.ranks());
  progress->chips = std::span(chips, machine.ranks());

  const ChildOutcome outcome = run_in_child(
      [&] { return to_bytes(detail::simulate_here(program, machine, costs, options, *progress)); });
  if (!outcome.succeeded)
    throw SimulationError(explain(program, machine, *progress, outcome.failure));
  return from_bytes(outcome.bytes);
}

}  // namespace equarx::sim
