#include "sim/time_executor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <type_traits>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <unistd.h>

#include "sim/child_process.hpp"
#include "sim/simgrid_platform.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {
namespace {

namespace s4u = simgrid::s4u;
using collectives::Direction;
using collectives::kDirections;
using collectives::MessageId;
using detail::Progress;

/// What all chips of a run share. Actors take turns in one thread, so nothing here needs a lock.
struct Run {
  const std::vector<Step>& steps;
  const Machine& machine;
  Progress& progress;
  /// By rank and the Direction that messages travel in.
  std::vector<std::array<s4u::Mailbox*, kDirections>> mailboxes;
  /// Messages that a rank has waited for, by the Direction that they travelled in.
  std::vector<std::array<std::uint64_t, kDirections>> received;
  TimeResult result;
};

/// One chip: a core that runs the list in order, and the DMAs that it has started.
class Chip {
 public:
  Chip(Run& run, std::uint32_t rank) : run_(run), rank_(rank) {}

  void live() {
    for (s4u::Mailbox* mailbox : run_.mailboxes[rank_])
      mailbox->set_receiver(s4u::Actor::self());  // or a DMA would wait for this core to receive it
    s4u::this_actor::yield();                     // until every chip has done so
    for (const Step& step : run_.steps) take(step);
    for (const Direction direction : {Direction::forward, Direction::backward})
      while (!outgoing_[index(direction)].empty()) retire(direction);
    run_.result.time_s = std::max(run_.result.time_s, finished_s_);
    run_.progress.chips[rank_].done = true;
  }

 private:
  void take(const Step& step) {
    run_.progress.active_rank = rank_;
    run_.progress.chips[rank_].instruction = step.instruction;
    if (step.delay_s > 0.0) {
      s4u::this_actor::sleep_for(step.delay_s);
      run_.result.core_busy_s[rank_] += step.delay_s;
    }
    switch (step.kind) {
      case Step::Kind::send: return send(step);
      case Step::Kind::wait: return wait(step);
      case Step::Kind::end: finished_s_ = s4u::Engine::get_clock(); return;
    }
  }

  void send(const Step& step) {
    const std::size_t way = index(step.direction);
    const std::uint32_t peer = neighbour(rank_, step.direction, run_.machine.ranks());
    // Those that the neighbour has waited for are done: SimGrid searches all that an actor has not yet
    // waited for at every completion, so the shorter that list the better.
    while (retired_[way] < run_.received[peer][way]) retire(step.direction);
    if (outgoing_[way].size() >= run_.machine.dma_queue) retire(step.direction);
    outgoing_[way].push_back(
        run_.mailboxes[peer][way]->put_async(const_cast<Step*>(&step), held_bytes(step, way)));
  }

  /// The transfer's bytes, and those that could pass while it holds its slowest link besides.
  std::uint64_t held_bytes(const Step& step, std::size_t way) const {
    if (step.link_s == 0.0) return step.bytes;
    double rate = std::numeric_limits<double>::infinity();
    for (const std::uint32_t link : run_.machine.routes[rank_][way])
      rate = std::min(rate, run_.machine.links[link].rate);
    return step.bytes + static_cast<std::uint64_t>(std::llround(step.link_s * rate));
  }

  void retire(Direction direction) {
    const std::size_t way = index(direction);
    outgoing_[way].front()->wait();
    outgoing_[way].pop_front();
    ++retired_[way];
  }

  void wait(const Step& step) {
    const std::size_t way = index(step.direction);
    void* arrived = nullptr;
    run_.mailboxes[rank_][way]->get_init()->set_dst_data(&arrived, sizeof arrived)->wait();
    const Step& sent = *static_cast<const Step*>(arrived);
    if (sent.message != step.message)
      throw std::logic_error(
          fmt::format("received message {} instead of {}", sent.message, step.message));
    ++run_.received[rank_][way];
    ++run_.result.messages;
    const std::uint32_t sender = neighbour(rank_, opposite(step.direction), run_.machine.ranks());
    for (const std::uint32_t link : run_.machine.routes[sender][way])
      run_.result.link_bytes[link] += sent.bytes;
  }

  static std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

  Run& run_;
  std::uint32_t rank_;
  std::array<std::deque<s4u::CommPtr>, kDirections> outgoing_;
  std::array<std::uint64_t, kDirections> retired_{};
  double finished_s_ = 0.0;
};

// --- The result, as bytes through a pipe

class Writer {
 public:
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { append(&value, sizeof value); }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  void get(std::vector<T>& values) {
    std::uint64_t size = 0;
    get(size);
    values.resize(size);
    extract(values.data(), size * sizeof(T));
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { extract(&value, sizeof value); }

 private:
  void extract(void* data, std::size_t size) {
    if (size > bytes_.size()) throw SimulationError("the simulation's result was cut short");
    std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

std::vector<std::byte> to_bytes(const TimeResult& result) {
  Writer writer;
  writer.put(result.time_s);
  writer.put(result.messages);
  writer.put(result.link_bytes);
  writer.put(result.core_busy_s);
  return std::move(writer).take();
}

TimeResult from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TimeResult result;
  reader.get(result.time_s);
  reader.get(result.messages);
  reader.get(result.link_bytes);
  reader.get(result.core_busy_s);
  return result;
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
                         const Costs& costs, Progress& progress) {
  const std::vector<Step> steps = make_timeline(program, costs);
  SimgridEngine platform(machine);
  Run run{.steps = steps,
          .machine = machine,
          .progress = progress,
          .mailboxes = {},
          .received = decltype(Run::received)(machine.ranks()),
          .result = {}};
  run.result.link_bytes.resize(machine.links.size());
  run.result.core_busy_s.resize(machine.ranks());
  std::deque<Chip> chips;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank) {
    auto& inbox = run.mailboxes.emplace_back();
    for (std::size_t way = 0; way < kDirections; ++way)
      inbox[way] = s4u::Mailbox::by_name(fmt::format("{}:{}", rank, way));
    Chip& chip = chips.emplace_back(run, rank);
    SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank),
                               [&chip] { chip.live(); });
  }
  s4u::Engine::on_deadlock_cb([&progress] {
    progress.deadlocked = true;
    _exit(1);
  });
  platform.engine().run();
  return run.result;
}

}  // namespace detail

TimeResult simulate(const collectives::Program& program, const Machine& machine,
                    const Costs& costs) {
  const std::size_t chips_bytes = machine.ranks() * sizeof(Progress::Chip);
  const SharedMemory memory(sizeof(Progress) + chips_bytes);
  auto* progress = std::construct_at(static_cast<Progress*>(memory.data()));
  auto* chips = reinterpret_cast<Progress::Chip*>(progress + 1);
  std::uninitialized_value_construct_n(chips, machine.ranks());
  progress->chips = std::span(chips, machine.ranks());

  const ChildOutcome outcome = run_in_child(
      [&] { return to_bytes(detail::simulate_here(program, machine, costs, *progress)); });
  if (!outcome.succeeded)
    throw SimulationError(explain(program, machine, *progress, outcome.failure));
  return from_bytes(outcome.bytes);
}

}  // namespace equarx::sim
