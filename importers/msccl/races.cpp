#include "importers/msccl/races.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "importers/msccl/memories.hpp"
#include "importers/msccl/walk.hpp"

namespace equarx::schedules {
namespace {

/// Vector clock (Mattern 1989): completed steps by thread block.
using Clock = std::vector<std::uint32_t>;

void merge(const Clock& other, Clock& clock) {
  std::ranges::transform(other, clock, clock.begin(),
                         [](std::uint32_t one, std::uint32_t two) { return std::max(one, two); });
}

/// An access to a chunk by the `count`-th step of a thread block.
struct Touch {
  std::uint32_t block = 0;
  std::uint32_t count = 0;
};

class Detector {
 public:
  Detector(const Schedule& schedule, const Queues& queues, bool in_place)
      : schedule_(schedule),
        queues_(queues),
        memories_(schedule, in_place),
        messages_(queues.all.size()),
        writer_(memories_.size()),
        readers_(memories_.size()) {
    for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      first_.push_back(static_cast<std::uint32_t>(ids_.size()));
      for (std::uint32_t block = 0; block < schedule.ranks[rank].blocks.size(); ++block)
        ids_.push_back({rank, block});
    }
    clocks_.assign(ids_.size(), Clock(ids_.size()));
  }

  std::string run() {
    walk(schedule_, queues_, {}, [&](const Visit& visit) {
      if (race_.empty()) follow(visit);
    });
    return race_;
  }

 private:
  void follow(const Visit& visit) {
    const BlockId id = visit.block;
    const std::uint32_t at = first_[id.rank] + id.block;
    const Step& step = schedule_.ranks[id.rank].blocks[id.block].steps[visit.step];
    Clock& clock = clocks_[at];
    if (step.after)
      merge(signalled_.at({first_[id.rank] + step.after->block, step.after->step}), clock);
    if (receives(step.op)) {
      auto& queue = messages_[*queues_.received_by[id.rank][id.block]];
      merge(queue.front(), clock);
      queue.pop_front();
    }
    clock[at] = visit.step + 1;
    if (reads_source(step.op)) touch(at, step.source, step.count, false);
    if (writes_destination(step.op)) touch(at, step.destination, step.count, true);
    if (sends(step.op)) messages_[*queues_.sent_by[id.rank][id.block]].push_back(clock);
    if (step.signals) signalled_[{at, visit.step}] = clock;
  }

  void touch(std::uint32_t at, const Location& first, std::uint32_t count, bool writes) {
    for (std::uint32_t chunk = 0; chunk < count; ++chunk) {
      const Location touched{first.memory, first.chunk + chunk};
      const std::uint64_t cell = memories_.at(ids_[at].rank, touched);
      check(at, touched, writer_[cell], writes);
      if (writes) {
        for (const Touch& reader : readers_[cell]) check(at, touched, reader, true);
        readers_[cell].clear();
        writer_[cell] = {at, clocks_[at][at]};
      } else {
        std::erase_if(readers_[cell], [at](const Touch& other) { return other.block == at; });
        readers_[cell].push_back({at, clocks_[at][at]});
      }
    }
  }

  void check(std::uint32_t at, const Location& location, const Touch& earlier, bool writes) {
    if (earlier.count == 0 || earlier.block == at || !race_.empty()) return;
    if (clocks_[at][earlier.block] >= earlier.count) return;
    const BlockId& id = ids_[at];
    const BlockId& other = ids_[earlier.block];
    race_ = fmt::format("{} {} chunk {} of \"{}\", unordered with {}",
                        describe(schedule_, id.rank, id.block, clocks_[at][at] - 1),
                        writes ? "writes" : "reads", location.chunk, name(location.memory),
                        describe(schedule_, other.rank, other.block, earlier.count - 1));
  }

  const Schedule& schedule_;
  const Queues& queues_;
  Memories memories_;
  std::vector<std::uint32_t> first_;  ///< by rank: index of its first thread block
  std::vector<BlockId> ids_;
  std::vector<Clock> clocks_;  ///< by thread block
  std::vector<std::deque<Clock>> messages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Clock> signalled_;
  std::vector<Touch> writer_;  ///< by chunk
  std::vector<std::vector<Touch>> readers_;
  std::string race_;
};

}  // namespace

bool can_look_for_races(const Schedule& schedule) {
  // Entries of all clocks kept: 256 MiB.
  constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 26U;
  std::uint64_t kept = count_blocks(schedule);
  for (const Rank& rank : schedule.ranks)
    for (const ThreadBlock& block : rank.blocks)
      for (const Step& step : block.steps)
        kept +=
            static_cast<std::uint64_t>(step.signals) + static_cast<std::uint64_t>(sends(step.op));
  return kept * count_blocks(schedule) <= kMostNumbers;
}

std::string find_race(const Schedule& schedule, const Queues& queues, bool in_place) {
  return Detector(schedule, queues, in_place).run();
}

}  // namespace equarx::schedules
