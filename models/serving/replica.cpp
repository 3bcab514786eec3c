#include "models/serving/replica.hpp"

#include <algorithm>
#include <utility>

namespace equarx::serving {

Replica::Replica(const Served& served, const Limits& limits, double prefix_bytes)
    : served_(served), limits_(limits), space_(served.cache, prefix_bytes, limits.keeps_blocks) {}

void Replica::enqueue(Sequence& sequence, double now_s) {
  sequence.enter(State::waits_for_step, now_s);
  for (const State cause : kCauses) sequence.spent_s[index(cause)] -= waited_s(index(cause), now_s);
  waiting_.push_back(&sequence);
}

std::optional<Step> Replica::start_step(double now_s) {
  if (runs_step_ || (waiting_.empty() && running_.empty())) return std::nullopt;
  Filling filling{.step = {}, .tokens = limits_.tokens, .now_s = now_s};
  State cause = State::waits_for_memory;
  if (limits_.policy == Policy::prompts_first) {
    cause = admit(filling);
    if (scheduled_.empty()) continue_running(filling);
  } else if (continue_running(filling)) {
    cause = admit(filling);
  }
  set_cause(waiting_.empty() ? State::waits_for_step : cause, now_s);
  if (scheduled_.empty()) return std::nullopt;  // memory is held by transfers
  runs_step_ = true;
  return filling.step;
}

/// Schedules running sequences. Returns false if one was preempted.
bool Replica::continue_running(Filling& filling) {
  const std::size_t before = running_.size();
  for (std::size_t i = 0; i < running_.size() && filling.tokens > 0; ++i) {
    Sequence& sequence = *running_[i];
    const std::uint64_t positions = std::min(sequence.known() - sequence.computed, filling.tokens);
    if (!grow_or_preempt(sequence, sequence.computed + positions, filling.now_s)) break;
    schedule(sequence, positions, filling);
  }
  return running_.size() == before;
}

/// Lets waiting sequences join the step. Returns why the next one cannot.
State Replica::admit(Filling& filling) {
  while (!waiting_.empty()) {
    Sequence& sequence = *waiting_.front();
    if (running_.size() == limits_.sequences) return State::waits_for_sequences;
    if (filling.tokens == 0 || !fits_prompt(sequence, filling)) return State::waits_for_tokens;
    const std::uint64_t missing = missing_of(sequence);
    const std::uint64_t positions =
        limits_.policy == Policy::prompts_first ? missing : std::min(missing, filling.tokens);
    const std::uint64_t first = sequence.known() - missing;
    if (!space_.grow(sequence, first + positions)) return State::waits_for_memory;
    if (sequence.generated == 0 && sequence.preemptions == 0) sequence.found = first;
    sequence.computed = first;
    waiting_.pop_front();
    start(sequence, filling.now_s);
    schedule(sequence, positions, filling);
  }
  return State::waits_for_step;
}

/// Whole prompts need room, or a step of their own.
bool Replica::fits_prompt(const Sequence& sequence, const Filling& filling) const {
  if (limits_.policy == Policy::mixed || scheduled_.empty()) return true;
  return missing_of(sequence) <= filling.tokens;
}

/// Positions of a waiting sequence that must be computed.
std::uint64_t Replica::missing_of(const Sequence& sequence) const {
  return sequence.known() - std::max(sequence.computed, space_.found(sequence));
}

void Replica::start(Sequence& sequence, double now_s) {
  if (is_cause(sequence.state))
    for (const State cause : kCauses)
      sequence.spent_s[index(cause)] += waited_s(index(cause), now_s);
  sequence.enter(sequence.generated == 0 ? State::prefills : State::decodes, now_s);
  running_.push_back(&sequence);
}

void Replica::schedule(Sequence& sequence, std::uint64_t positions, Filling& filling) {
  const std::uint64_t end = sequence.computed + positions;
  const workloads::Extent extent{static_cast<double>(positions), static_cast<double>(end), 1.0};
  filling.step.batch.add(served_.model, extent, served_.method, end == sequence.known());
  const bool decodes = sequence.generated > 0 && positions == 1;
  (decodes ? filling.step.decode_tokens : filling.step.prompt_tokens) += positions;
  filling.tokens -= std::min(filling.tokens, positions);
  sequence.scheduled = positions;
  scheduled_.push_back(&sequence);
}

/// Returns false if the sequence itself was preempted.
bool Replica::grow_or_preempt(Sequence& sequence, std::uint64_t positions, double now_s) {
  while (!space_.grow(sequence, positions)) {
    const bool itself = running_.back() == &sequence;
    preempt_last(now_s);
    if (itself) return false;
  }
  return true;
}

void Replica::preempt_last(double now_s) {
  Sequence& sequence = *running_.back();
  running_.pop_back();
  space_.release(sequence);
  sequence.computed = 0;
  ++sequence.preemptions;
  sequence.enter(State::preempted, now_s);
  waiting_.push_front(&sequence);
}

std::vector<Sequence*> Replica::end_step(double now_s,
                                         const std::function<void(Sequence&)>& on_token) {
  std::vector<Sequence*> ended;
  for (Sequence* const sequence : std::exchange(scheduled_, {})) {
    sequence->computed += std::exchange(sequence->scheduled, 0);
    if (sequence->computed < sequence->known()) continue;
    ++sequence->generated;
    if (sequence->state == State::prefills) sequence->enter(State::decodes, now_s);
    on_token(*sequence);
    const bool is_complete = sequence->generated == sequence->output;
    if (!is_complete && !sequence->moves_after_prefill) continue;
    if (is_complete) space_.release(*sequence);
    sequence->enter(State::transfers, now_s);
    ended.push_back(sequence);
  }
  std::erase_if(running_,
                [](const Sequence* sequence) { return sequence->state == State::transfers; });
  runs_step_ = false;
  return ended;
}

/// Time that the queue has waited for a cause until `now_s`.
double Replica::waited_s(std::size_t cause, double now_s) const {
  const bool runs = index(cause_) == cause;
  return waited_s_[cause] + (runs ? now_s - cause_since_s_ : 0.0);
}

void Replica::set_cause(State cause, double now_s) {
  waited_s_[index(cause_)] += now_s - cause_since_s_;
  cause_ = cause;
  cause_since_s_ = now_s;
}

}  // namespace equarx::serving
