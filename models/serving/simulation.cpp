#include "models/serving/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace equarx::serving {
namespace {

/// Positions of the shared prefix of a prompt: whole blocks, and not its last position.
std::uint64_t prefix_of(double share, std::uint64_t prompt, std::uint64_t block) {
  const auto shared = static_cast<std::uint64_t>(share * static_cast<double>(prompt));
  return std::min(shared, prompt - 1) / block * block;
}

/// Kind of an event.
enum class EventKind : std::uint8_t { arrival, step_end, transfer_end };

struct Event {
  double time_s = 0.0;
  std::uint64_t order = 0;  ///< of creation
  EventKind kind = EventKind::arrival;
  std::size_t index = 0;  ///< of the request, or of the replica

  /// For a queue with the earliest event on top.
  bool operator<(const Event& other) const {
    return std::tie(time_s, order) > std::tie(other.time_s, other.order);
  }
};

/// Replicas of one pool.
struct Group {
  const Pool& pool;
  PoolTotals totals;
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<double> port_free_s;  ///< by replica
  std::size_t first = 0;            ///< number of its first replica in events

  Group(const Pool& of, double prefix, std::size_t first_number)
      : pool(of), port_free_s(of.replicas, 0.0), first(first_number) {
    for (std::uint32_t i = 0; i < of.replicas; ++i)
      replicas.push_back(std::make_unique<Replica>(of.served, of.limits, prefix));
  }

  std::size_t least_loaded() const {
    const auto load = [](const std::unique_ptr<Replica>& replica) {
      return replica->waiting() + replica->running();
    };
    return static_cast<std::size_t>(std::ranges::min_element(replicas, {}, load) -
                                    replicas.begin());
  }
};

class Simulation {
 public:
  Simulation(const System& system, const std::vector<Request>& requests, const Watch& watch)
      : system_(system),
        watch_(watch),
        decoding_(system.pool, prefix_bytes(system.load, requests, system.pool.served.cache), 0) {
    if (system.prefill)
      prefill_.emplace(system.prefill->pool,
                       prefix_bytes(system.load, requests, system.prefill->pool.served.cache),
                       system.pool.replicas);
    outcome_.records.resize(requests.size());
    sequences_.resize(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) outcome_.records[i].request = requests[i];
  }

  Outcome run() && {
    add_first_arrivals();
    while (!events_.empty()) {
      const double now_s = events_.top().time_s;
      while (!events_.empty() && events_.top().time_s == now_s) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      start_steps(decoding_, now_s);
      if (prefill_) start_steps(*prefill_, now_s);
    }
    finish();
    return std::move(outcome_);
  }

 private:
  void add_first_arrivals() {
    const std::size_t all = outcome_.records.size();
    arrived_ =
        system_.load.concurrency ? std::min<std::size_t>(*system_.load.concurrency, all) : all;
    for (std::size_t i = 0; i < arrived_; ++i)
      add_event(outcome_.records[i].request.arrival_s, EventKind::arrival, i);
  }

  void add_event(double time_s, EventKind kind, std::size_t index) {
    events_.push({time_s, created_++, kind, index});
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::arrival: arrive(event.index, event.time_s); break;
      case EventKind::step_end: end_step(event.index, event.time_s); break;
      case EventKind::transfer_end: end_transfer(event.index, event.time_s); break;
    }
  }

  void arrive(std::size_t index, double now_s) {
    Record& record = outcome_.records[index];
    record.request.arrival_s = now_s;
    Sequence& sequence = sequences_[index];
    Group& group = prefill_ ? *prefill_ : decoding_;
    sequence = {.request = index, .prompt = record.request.prompt, .output = record.request.output};
    sequence.prefix =
        prefix_of(system_.load.shared_prefix, sequence.prompt, group.pool.served.cache.block());
    sequence.prefix_text = record.request.prefix;
    sequence.prefix_tokens = record.request.prefix_tokens;
    sequence.moves_after_prefill = prefill_.has_value();
    sequence.replica = group.least_loaded();
    enqueue(group, sequence, now_s);
  }

  static void enqueue(Group& group, Sequence& sequence, double now_s) {
    Replica& replica = *group.replicas[sequence.replica];
    replica.enqueue(sequence, now_s);
    group.totals.longest_queue =
        std::max(group.totals.longest_queue, static_cast<double>(replica.waiting()));
  }

  void start_steps(Group& group, double now_s) {
    for (std::size_t i = 0; i < group.replicas.size(); ++i) {
      Replica& replica = *group.replicas[i];
      if (const std::optional<Step> step = replica.start_step(now_s)) {
        const StepTime time = group.pool.served.step_time(step->batch);
        add_event(now_s + time.total_s(), EventKind::step_end, group.first + i);
        add(*step, time, group.totals);
        if (watch_.steps)
          outcome_.steps.push_back({.replica = group.first + i,
                                    .start_s = now_s,
                                    .end_s = now_s + time.total_s(),
                                    .prompt_tokens = step->prompt_tokens,
                                    .decode_tokens = step->decode_tokens,
                                    .waiting = replica.waiting(),
                                    .used_bytes = replica.space().used_bytes()});
      }
    }
  }

  static void add(const Step& step, const StepTime& time, PoolTotals& totals) {
    ++totals.steps;
    totals.busy.compute_s += time.compute_s;
    totals.busy.communication_s += time.communication_s;
    totals.busy.overhead_s += time.overhead_s;
    totals.decode_tokens += static_cast<double>(step.decode_tokens);
    totals.prompt_tokens += static_cast<double>(step.prompt_tokens);
  }

  void end_step(std::size_t number, double now_s) {
    Group& group = number < decoding_.replicas.size() ? decoding_ : prefill_.value();
    const auto on_token = [&](Sequence& sequence) {
      if (sequence.generated == 1)
        sequence.first_token_s = now_s;
      else
        outcome_.gaps_s.push_back(now_s - sequence.last_token_s);
      sequence.last_token_s = now_s;
    };
    for (Sequence* const sequence :
         group.replicas[number - group.first]->end_step(now_s, on_token)) {
      if (sequence->generated == sequence->output)
        complete(*sequence, now_s);
      else
        transfer(*sequence, now_s);
    }
  }

  void complete(Sequence& sequence, double now_s) {
    Record& record = outcome_.records[sequence.request];
    record.first_token_s = sequence.first_token_s;
    record.last_token_s = sequence.last_token_s;
    record.replica = sequence.replica;
    record.preemptions = sequence.preemptions;
    record.found = sequence.found;
    record.spent_s = sequence.spent_s;
    outcome_.end_s = now_s;
    ++completed_;
    constexpr std::size_t kCalls = 200;
    if (watch_.progress && completed_ % (outcome_.records.size() / kCalls + 1) == 0)
      watch_.progress(static_cast<double>(completed_) /
                      static_cast<double>(outcome_.records.size()));
    if (system_.load.concurrency && arrived_ < outcome_.records.size())
      add_event(now_s, EventKind::arrival, arrived_++);
  }

  /// Moves the cache of a prompt to the replica that decodes it, once both ports are free.
  void transfer(Sequence& sequence, double now_s) {
    const PrefillPool& prefill = system_.prefill.value();
    const std::size_t target = decoding_.least_loaded();
    double& sender_s = prefill_->port_free_s[sequence.replica];
    double& receiver_s = decoding_.port_free_s[target];
    const double bytes = prefill.pool.served.cache.bytes(sequence.computed) *
                         static_cast<double>(prefill.pool.served.chips);
    const double end_s = std::max({now_s, sender_s, receiver_s}) + prefill.port.latency_s +
                         bytes / prefill.port.bandwidth;
    sender_s = receiver_s = end_s;
    target_.resize(sequences_.size());
    target_[sequence.request] = target;
    add_event(end_s, EventKind::transfer_end, sequence.request);
  }

  void end_transfer(std::size_t index, double now_s) {
    Sequence& sequence = sequences_[index];
    prefill_->replicas[sequence.replica]->release(sequence);
    sequence.moves_after_prefill = false;
    sequence.replica = target_[index];
    enqueue(decoding_, sequence, now_s);
  }

  void finish() {
    const auto totals = [](Group& group) {
      for (const std::unique_ptr<Replica>& replica : group.replicas) {
        const CacheSpace& space = replica->space();
        group.totals.peak_bytes = std::max(group.totals.peak_bytes, space.peak_bytes());
        group.totals.evicted_blocks += space.evicted_blocks();
      }
      return group.totals;
    };
    outcome_.totals = totals(decoding_);
    if (prefill_) outcome_.prefill_totals = totals(*prefill_);
    if (completed_ != outcome_.records.size())
      throw std::logic_error(fmt::format("{} of {} requests are incomplete",
                                         outcome_.records.size() - completed_,
                                         outcome_.records.size()));
    double gaps = 0.0;
    for (const Record& record : outcome_.records)
      gaps += static_cast<double>(record.request.output - 1);
    if (gaps != static_cast<double>(outcome_.gaps_s.size()))
      throw std::logic_error("a token is lost, or generated twice");
  }

  const System& system_;
  const Watch& watch_;
  Group decoding_;
  std::optional<Group> prefill_;
  std::vector<Sequence> sequences_;  ///< by request
  std::vector<std::size_t> target_;  ///< replica that decodes, by request
  std::priority_queue<Event> events_;
  std::uint64_t created_ = 0;  ///< events
  std::size_t arrived_ = 0;    ///< requests with an event of arrival
  std::size_t completed_ = 0;  ///< requests
  Outcome outcome_;
};

}  // namespace

double Record::tpot_s() const {
  return request.output > 1
             ? (last_token_s - first_token_s) / static_cast<double>(request.output - 1)
             : 0.0;
}

Largest largest_request(const std::vector<Request>& requests, const KvCache& cache) {
  Largest largest;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const double bytes = cache.bytes(requests[i].prompt + requests[i].output - 1);
    if (bytes > largest.bytes) largest = {i, bytes};
  }
  return largest;
}

double prefix_bytes(const Load& load, const std::vector<Request>& requests, const KvCache& cache) {
  std::uint64_t longest = 0;
  for (const Request& request : requests)
    longest = std::max(longest, prefix_of(load.shared_prefix, request.prompt, cache.block()));
  return cache.bytes(longest);
}

Outcome simulate(const System& system, const std::vector<Request>& requests, const Watch& watch) {
  return Simulation(system, requests, watch).run();
}

}  // namespace equarx::serving
