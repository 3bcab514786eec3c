#include "importers/msccl/walk.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"

namespace equarx::schedules {
namespace {

using exceptions::UserError;

/// Progress of a thread block.
struct Position {
  std::uint64_t loop = 0;
  std::uint32_t step = 0;
  std::uint32_t message = 0;
  /// loop x steps + step + 1 of the latest step that signalled its completion; 0 if none did.
  std::uint64_t signalled = 0;
};

class Walker {
 public:
  Walker(const Schedule& schedule, const Queues& queues, const Cut& cut,
         const std::function<void(const Visit&)>& visit);

  void run();

 private:
  /// Cause of a blocked thread block.
  struct Blocker {
    std::uint32_t block = 0;  ///< thread block waited for: index into positions_
    std::string what;         ///< event waited for
  };

  std::uint32_t index(const BlockId& id) const { return first_[id.rank] + id.block; }
  const ThreadBlock& block_of(std::uint32_t at) const {
    return schedule_.ranks[ids_[at].rank].blocks[ids_[at].block];
  }
  const Step& step_of(std::uint32_t at) const { return block_of(at).steps[positions_[at].step]; }
  bool done(std::uint32_t at) const {
    return positions_[at].loop == cut_.loops || block_of(at).steps.empty();
  }
  bool waits_for_step(std::uint32_t at) const;
  bool can_receive(std::uint32_t at) const;
  bool can_send(std::uint32_t at) const;
  bool advance(std::uint32_t at);
  void finish_message(std::uint32_t at);
  void wake(std::uint32_t at);
  Blocker blocker(std::uint32_t at) const;
  [[noreturn]] void refuse() const;

  const Schedule& schedule_;
  const Queues& queues_;
  const Cut& cut_;
  const std::function<void(const Visit&)>& visit_;
  std::vector<std::uint32_t> first_;  ///< by rank: index of its first thread block
  std::vector<BlockId> ids_;
  std::vector<Position> positions_;
  std::vector<std::uint64_t> sent_;      ///< by queue
  std::vector<std::uint64_t> received_;  ///< by queue
  std::vector<std::uint32_t> ready_;     ///< thread blocks that may be able to advance
  std::vector<char> is_ready_;
};

Walker::Walker(const Schedule& schedule, const Queues& queues, const Cut& cut,
               const std::function<void(const Visit&)>& visit)
    : schedule_(schedule),
      queues_(queues),
      cut_(cut),
      visit_(visit),
      sent_(queues.all.size()),
      received_(queues.all.size()) {
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    first_.push_back(static_cast<std::uint32_t>(ids_.size()));
    for (std::uint32_t block = 0; block < schedule.ranks[rank].blocks.size(); ++block)
      ids_.push_back({rank, block});
  }
  positions_.resize(ids_.size());
  is_ready_.resize(ids_.size());
  for (auto at = static_cast<std::uint32_t>(ids_.size()); at > 0; --at) wake(at - 1);
}

void Walker::wake(std::uint32_t at) {
  if (std::exchange(is_ready_[at], 1) == 0) ready_.push_back(at);
}

bool Walker::waits_for_step(std::uint32_t at) const {
  const Position& position = positions_[at];
  const Step& step = step_of(at);
  if (!step.after || position.message > 0) return false;
  const std::uint32_t other = index({ids_[at].rank, step.after->block});
  const std::uint64_t goal = position.loop * block_of(other).steps.size() + step.after->step + 1;
  return positions_[other].signalled < goal;
}

bool Walker::can_receive(std::uint32_t at) const {
  const QueueId queue = *queues_.received_by[ids_[at].rank][ids_[at].block];
  return sent_[queue] > received_[queue];
}

bool Walker::can_send(std::uint32_t at) const {
  const QueueId queue = *queues_.sent_by[ids_[at].rank][ids_[at].block];
  return sent_[queue] - received_[queue] < cut_.room;
}

/// Executes the next message of a thread block, if possible. Forwarding needs space in the outgoing
/// queue before it frees the incoming one.
bool Walker::advance(std::uint32_t at) {
  if (done(at) || waits_for_step(at)) return false;
  const Op op = step_of(at).op;
  if ((receives(op) && !can_receive(at)) || (sends(op) && !can_send(at))) return false;
  const BlockId id = ids_[at];
  if (receives(op)) {
    const QueueId queue = *queues_.received_by[id.rank][id.block];
    ++received_[queue];
    wake(index(queues_.all[queue].sender));
  }
  if (sends(op)) {
    const QueueId queue = *queues_.sent_by[id.rank][id.block];
    ++sent_[queue];
    wake(index(queues_.all[queue].receiver));
  }
  const Position& position = positions_[at];
  if (visit_) visit_({id, position.step, position.loop, position.message});
  finish_message(at);
  return true;
}

void Walker::finish_message(std::uint32_t at) {
  Position& position = positions_[at];
  const ThreadBlock& block = block_of(at);
  const Step& step = block.steps[position.step];
  const bool moves = sends(step.op) || receives(step.op);
  if (moves && ++position.message < messages_of(cut_, step.count)) return;
  position.message = 0;
  if (step.signals) {
    position.signalled = position.loop * block.steps.size() + position.step + 1;
    const BlockId id = ids_[at];
    for (std::uint32_t other = 0; other < schedule_.ranks[id.rank].blocks.size(); ++other)
      wake(first_[id.rank] + other);
  }
  if (++position.step < block.steps.size()) return;
  position.step = 0;
  ++position.loop;
}

void Walker::run() {
  while (!ready_.empty()) {
    const std::uint32_t at = ready_.back();
    ready_.pop_back();
    is_ready_[at] = 0;
    while (advance(at)) {
    }
  }
  for (std::uint32_t at = 0; at < ids_.size(); ++at)
    if (!done(at)) refuse();
}

Walker::Blocker Walker::blocker(std::uint32_t at) const {
  const Step& step = step_of(at);
  if (waits_for_step(at))
    return {index({ids_[at].rank, step.after->block}),
            fmt::format("for step {} of thread block {}", step.after->step, step.after->block)};
  const BlockId id = ids_[at];
  if (receives(step.op) && !can_receive(at)) {
    const Queue& queue = queues_.all[*queues_.received_by[id.rank][id.block]];
    return {index(queue.sender), fmt::format("for a message from rank {}", queue.sender.rank)};
  }
  const Queue& queue = queues_.all[*queues_.sent_by[id.rank][id.block]];
  return {index(queue.receiver),
          fmt::format("for space in the queue to rank {}", queue.receiver.rank)};
}

/// Follows the blockers until one repeats: a blocked thread block waits for another blocked one.
void Walker::refuse() const {
  std::uint32_t at = 0;
  while (done(at)) ++at;
  std::vector<char> passed(ids_.size());
  while (std::exchange(passed[at], 1) == 0 && !done(blocker(at).block)) at = blocker(at).block;
  constexpr std::size_t kMostNamed = 6;
  std::string cycle;
  const std::uint32_t first = at;
  for (std::size_t named = 0; named < kMostNamed; ++named) {
    const Blocker next = blocker(at);
    cycle += fmt::format("{}{} waits {}", cycle.empty() ? "" : "; ",
                         describe(schedule_, ids_[at].rank, ids_[at].block, positions_[at].step),
                         next.what);
    at = next.block;
    if (at == first || done(at)) break;
  }
  throw UserError("", "deadlocks: " + cycle + (at == first || done(at) ? "" : "; ..."));
}

}  // namespace

std::uint32_t messages_of(const Cut& cut, std::uint32_t chunks) {
  return (chunks - 1) / cut.chunks_at_once + 1;
}

void walk(const Schedule& schedule, const Queues& queues, const Cut& cut,
          const std::function<void(const Visit&)>& visit) {
  Walker(schedule, queues, cut, visit).run();
}

}  // namespace equarx::schedules
