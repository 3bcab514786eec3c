#include "sim/engines/direct/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sim/engines/direct/in_order.hpp"

namespace equarx::sim {
namespace {

/// Periods after which the state is first kept: queues have filled.
constexpr std::uint64_t kFirst = 2;
/// Longest distance, in periods, at which states are compared.
constexpr std::uint64_t kMostCompared = 2;
/// Passes through a loop without a jump after which none is tried.
constexpr std::uint32_t kMostFailures = 2;
/// Fewest periods worth a jump.
constexpr double kLeastJump = 2.0;
/// Periods by which a jump ends before something else does.
constexpr double kMargin = 2.0;

}  // namespace

/// State of a simulation at an instant.
struct Jumps::Snapshot {
  /// Transfers of an inbox that it has not dropped yet.
  struct Queue {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t retired = 0;
    std::vector<Transfer> transfers;

    explicit Queue(const Inbox& inbox)
        : sent(inbox.sent()), received(inbox.received()), retired(inbox.retired()) {
      for (std::uint64_t i = std::min(received, retired); i < sent; ++i)
        transfers.push_back(inbox.at(i));
    }
  };

  explicit Snapshot(const InOrder& run)
      : now_s(run.now_s_),
        lists(run.lists_),
        due(due_order(run)),
        free_s(run.free_s_),
        receiver_waits(run.receiver_waits_),
        sender_waits(run.sender_waits_),
        queues(run.record_.inboxes.begin(), run.record_.inboxes.end()),
        moved(run.record_.moved),
        core_busy_s(run.record_.result.core_busy_s),
        waits(run.record_.result.waits),
        received(run.record_.progress.received) {
    for (std::uint32_t list = 0; list < lists.size(); ++list) left_s.push_back(left_of(run, list));
  }

  /// Work left on the core; 0 if the stream does not occupy it.
  static double left_of(const InOrder& run, std::uint32_t list) {
    const SharedCore& core = run.cores_[run.rank_of(list)];
    const std::uint32_t stream = run.stream_of(list);
    return core.busy(stream) ? core.left_s(stream, run.now_s_) : 0.0;
  }
  /// Scheduled streams in the order in which they resume.
  static std::vector<std::uint32_t> due_order(const InOrder& run) {
    std::vector<std::uint32_t> due;
    for (std::uint32_t list = 0; list < run.lists_.size(); ++list)
      if (run.lists_[list].due_s != InOrder::kNever) due.push_back(list);
    std::ranges::sort(due, {}, [&](std::uint32_t list) {
      return std::pair(run.lists_[list].due_s, run.lists_[list].order);
    });
    return due;
  }

  double now_s;
  std::vector<InOrder::List> lists;
  std::vector<std::uint32_t> due;
  std::vector<double> left_s;  ///< by list
  std::vector<double> free_s;
  std::vector<std::uint32_t> receiver_waits;
  std::vector<std::uint32_t> sender_waits;
  std::vector<Queue> queues;
  std::vector<Record::Moved> moved;
  std::vector<double> core_busy_s;
  std::vector<Waits> waits;
  std::uint64_t received;
};

/// A state compared with an earlier one.
class Jumps::Comparison {
 public:
  Comparison(const Jumps& jumps, const Snapshot& before)
      : jumps_(jumps),
        run_(jumps.run_),
        before_(before),
        cycle_s_(run_.now_s_ - before.now_s),
        rounding_s_(kRoundings * std::numeric_limits<double>::epsilon() * run_.now_s_) {
    repeats_ = cycle_s_ > kLeastCycle * rounding_s_ && lists_repeat() && queues_repeat();
  }

  /// Cycles that may be passed over; none if the state does not repeat.
  double cycles() const { return repeats_ ? std::floor(most_) : 0.0; }

  /// Passes over cycles.
  void jump(double cycles) {
    const double shift_s = cycles * cycle_s_;
    move_queues(cycles, shift_s);
    move_lists(cycles, shift_s);
    add_sums(cycles);
    run_.now_s_ += shift_s;
    run_.alarms_ = {};
    for (const std::uint32_t list : before_.due) run_.schedule(list, run_.lists_[list].due_s);
    for (collectives::Rank rank = 0; rank < run_.cores_.size(); ++rank) {
      run_.cores_[rank].shift(shift_s);
      run_.update_core_end(rank);
    }
  }

 private:
  static constexpr double kRoundings = 64.0;
  static constexpr double kLeastCycle = 1e3;

  /// True if a time is a cycle later.
  bool shifts(double before_s, double now_s) const {
    return now_s != before_s && std::abs(now_s - before_s - cycle_s_) <= rounding_s_;
  }
  /// True if a time is a cycle later, or has not changed: a jump then ends before it.
  bool repeats(double before_s, double now_s) {
    if (shifts(before_s, now_s)) return true;
    if (now_s != before_s) return false;
    if (now_s > run_.now_s_) limit((now_s - run_.now_s_) / cycle_s_ - kMargin);
    return true;
  }
  void limit(double cycles) { most_ = std::min(most_, cycles); }

  /// Steps by which a stream has moved.
  std::ptrdiff_t moved(std::uint32_t list) const {
    return run_.lists_[list].step - before_.lists[list].step;
  }

  bool lists_repeat() {
    if (Snapshot::due_order(run_) != before_.due ||
        run_.receiver_waits_ != before_.receiver_waits ||
        run_.sender_waits_ != before_.sender_waits)
      return false;
    for (std::uint32_t list = 0; list < run_.lists_.size(); ++list)
      if (!list_repeats(list)) return false;
    return true;
  }

  bool list_repeats(std::uint32_t number) {
    const InOrder::List& before = before_.lists[number];
    const InOrder::List& now = run_.lists_[number];
    return before.run == now.run && before.phase == now.phase && before.on_core == now.on_core &&
           place_repeats(number) && core_repeats(number) && repeats(before.due_s, now.due_s) &&
           repeats(before.start_s, now.start_s) && repeats(before.core_s, now.core_s) &&
           repeats(before.acts_s, now.acts_s);
  }

  /// True if a stream has not moved, or by whole periods of a loop.
  bool place_repeats(std::uint32_t number) {
    const std::ptrdiff_t steps = moved(number);
    if (steps == 0) return true;
    const Loop* const loop = jumps_.loop_of(number);
    if (loop == nullptr || steps < 0 || steps % loop->period != 0 ||
        before_.lists[number].step < loop->begin)
      return false;
    const auto periods = (loop->end - run_.lists_[number].step) / steps;
    limit(static_cast<double>(periods - 1));
    return true;
  }

  bool core_repeats(std::uint32_t number) {
    const double left_s = Snapshot::left_of(run_, number);
    const double done_s = before_.left_s[number] - left_s;
    if (std::abs(done_s) <= rounding_s_) return true;
    if (done_s < 0.0 || moved(number) != 0) return false;
    limit(left_s / done_s - kMargin);
    return true;
  }

  bool queues_repeat() {
    for (std::size_t pair = 0; pair < run_.free_s_.size(); ++pair)
      if (!repeats(before_.free_s[pair], run_.free_s_[pair])) return false;
    for (std::size_t inbox = 0; inbox < run_.record_.inboxes.size(); ++inbox)
      if (!queue_repeats(inbox)) return false;
    return true;
  }

  /// The stream that sends to an inbox.
  std::uint32_t sender_of(std::size_t inbox) const {
    const std::size_t channels = run_.record_.wiring.channels();
    const auto channel = static_cast<collectives::ChannelId>(inbox % channels);
    return static_cast<std::uint32_t>(inbox / channels) * run_.streams_ +
           run_.record_.timelines.sender_of(channel);
  }

  bool queue_repeats(std::size_t number) {
    const Snapshot::Queue& before = before_.queues[number];
    const Inbox& now = run_.record_.inboxes[number];
    const std::uint64_t sent = now.sent() - before.sent;
    if (now.received() - before.received != sent || now.retired() - before.retired != sent)
      return false;
    if (sent == 0) return true;
    const Loop* const loop = jumps_.loop_of(sender_of(number));
    const std::ptrdiff_t steps = moved(sender_of(number));
    for (std::size_t i = 0; i < before.transfers.size(); ++i) {
      const Transfer& was = before.transfers[i];
      const Transfer& is = now.at(first_of(now) + i);
      if (is.sent != was.sent + steps || !loop->contains(was.sent) ||
          !repeats(was.left_s, is.left_s) || !repeats(was.sent_s, is.sent_s))
        return false;
    }
    return true;
  }

  /// Number of the oldest transfer that an inbox has not dropped.
  static std::uint64_t first_of(const Inbox& inbox) {
    return std::min(inbox.received(), inbox.retired());
  }

  void shift(double before_s, double shift_s, double& now_s) const {
    if (shifts(before_s, now_s)) now_s += shift_s;
  }

  void move_queues(double cycles, double shift_s) {
    for (std::size_t pair = 0; pair < run_.free_s_.size(); ++pair)
      shift(before_.free_s[pair], shift_s, run_.free_s_[pair]);
    for (std::size_t number = 0; number < run_.record_.inboxes.size(); ++number) {
      const Snapshot::Queue& before = before_.queues[number];
      Inbox& now = run_.record_.inboxes[number];
      if (now.sent() == before.sent) continue;
      for (std::size_t i = 0; i < before.transfers.size(); ++i) {
        Transfer& transfer = now.at(first_of(now) + i);
        transfer.sent += static_cast<std::ptrdiff_t>(cycles) * moved(sender_of(number));
        shift(before.transfers[i].left_s, shift_s, transfer.left_s);
        shift(before.transfers[i].sent_s, shift_s, transfer.sent_s);
      }
    }
  }

  void move_lists(double cycles, double shift_s) {
    for (std::uint32_t number = 0; number < run_.lists_.size(); ++number) {
      const InOrder::List& before = before_.lists[number];
      InOrder::List& now = run_.lists_[number];
      if (now.on_core) {
        const double done_s = before_.left_s[number] - Snapshot::left_of(run_, number);
        if (done_s > rounding_s_)
          run_.cores_[run_.rank_of(number)].do_part(run_.stream_of(number), cycles * done_s);
      }
      const std::ptrdiff_t steps = static_cast<std::ptrdiff_t>(cycles) * moved(number);
      now.step += steps;
      if (now.jump != nullptr) now.jump += steps;
      shift(before.due_s, shift_s, now.due_s);
      shift(before.start_s, shift_s, now.start_s);
      shift(before.core_s, shift_s, now.core_s);
      shift(before.acts_s, shift_s, now.acts_s);
    }
  }

  void add_sums(double cycles) {
    TimeResult& result = run_.record_.result;
    const auto times = static_cast<std::uint64_t>(cycles);
    for (std::size_t inbox = 0; inbox < run_.record_.moved.size(); ++inbox) {
      Record::Moved& sum = run_.record_.moved[inbox];
      const Record::Moved& before = before_.moved[inbox];
      sum.messages += times * (sum.messages - before.messages);
      sum.bytes += times * (sum.bytes - before.bytes);
      sum.link_s += cycles * (sum.link_s - before.link_s);
    }
    for (std::size_t rank = 0; rank < result.waits.size(); ++rank) {
      result.core_busy_s[rank] += cycles * (result.core_busy_s[rank] - before_.core_busy_s[rank]);
      Waits added = result.waits[rank];
      add_times(before_.waits[rank], -1.0, added);
      add_times(added, cycles, result.waits[rank]);
    }
    const std::uint64_t passed = times * (run_.record_.progress.received - before_.received);
    run_.record_.progress.received += passed;
    result.jumped += passed;
  }

  const Jumps& jumps_;
  InOrder& run_;
  const Snapshot& before_;
  double cycle_s_;
  double rounding_s_;
  double most_ = std::numeric_limits<double>::infinity();
  bool repeats_ = false;
};

Jumps::Jumps(InOrder& run) : run_(run), places_(run.lists_.size()) {}

Jumps::~Jumps() = default;

bool Jumps::may_jump(const Record& record) {
  return record.timelines.streams > 1 && !record.traced && record.machine.failures.empty() &&
         !record.wiring.shares();
}

std::vector<Jumps::Tried>& Jumps::loops_of(std::uint32_t list) {
  const auto [known, is_new] = loops_.try_emplace(list);
  if (is_new)
    for (const Loop& loop : find_loops(run_.record_.timelines.lists[list]))
      known->second.push_back({.loop = loop});
  return known->second;
}

void Jumps::enter(std::uint32_t stream) {
  places_[stream].loops = &loops_of(run_.lists_[stream].run->number);
  go_to_loop(stream, 0);
}

/// Passes over loops in which states were not found to repeat.
void Jumps::go_to_loop(std::uint32_t stream, std::size_t loop) {
  Place& place = places_[stream];
  std::vector<Tried>& loops = *place.loops;
  while (loop < loops.size() && !loops[loop].succeeded && loops[loop].failures >= kMostFailures)
    ++loop;
  place.loop = loop;
  place.passed = 0;
  place.next = kFirst;
  place.kept.reset();
  run_.lists_[stream].jump =
      loop < loops.size() ? loops[loop].loop.begin + loops[loop].loop.period : nullptr;
}

const Loop* Jumps::loop_of(std::uint32_t stream) const {
  const Place& place = places_[stream];
  if (place.loops == nullptr || place.loop >= place.loops->size()) return nullptr;
  const Loop& loop = (*place.loops)[place.loop].loop;
  return loop.contains(run_.lists_[stream].step) ? &loop : nullptr;
}

void Jumps::pass(std::uint32_t stream) {
  Place& place = places_[stream];
  Tried& tried = (*place.loops)[place.loop];
  ++place.passed;
  if (place.kept)
    compare(place);
  else if (place.passed >= place.next)
    place.kept = std::make_unique<Snapshot>(run_);
  InOrder::List& list = run_.lists_[stream];
  list.jump = list.step + tried.loop.period;
  if (list.jump + tried.loop.period <= tried.loop.end) return;
  ++tried.failures;
  go_to_loop(stream, place.loop + 1);
}

void Jumps::compare(Place& place) {
  Comparison change(*this, *place.kept);
  if (change.cycles() >= kLeastJump) {
    change.jump(change.cycles());
    for (Place& other : places_) other.kept.reset();
    (*place.loops)[place.loop].succeeded = true;
    place.next = place.passed + 1;
  } else if (place.passed >= place.next + kMostCompared) {
    place.kept.reset();
    place.next = 2 * place.passed;
  }
}

}  // namespace equarx::sim
