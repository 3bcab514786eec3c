#include "sim/engines/direct/loops.hpp"

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <utility>

namespace equarx::sim {
namespace {

/// Fewest periods of a loop.
constexpr std::ptrdiff_t kLeastPeriods = 8;
/// Steps whose recurrence suggests a period.
constexpr std::size_t kGram = 8;

bool may_repeat(const Step& step) {
  switch (step.kind) {
    case Step::Kind::work:
    case Step::Kind::compute:
    case Step::Kind::send:
    case Step::Kind::wait: return true;
    default: return false;
  }
}

bool do_alike(const Step& one, const Step& other) {
  return may_repeat(one) && one.kind == other.kind && one.number == other.number &&
         one.delay_s == other.delay_s && one.bytes == other.bytes && one.link_s == other.link_s &&
         one.latency_s == other.latency_s && one.hbm_bytes == other.hbm_bytes &&
         one.overlapped_s == other.overlapped_s && one.least_s == other.least_s;
}

std::uint64_t hash_of(const Step& step) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = 0;
  for (const std::uint64_t field : {static_cast<std::uint64_t>(step.kind) << 32U | step.number,
                                    std::bit_cast<std::uint64_t>(step.delay_s), step.bytes})
    hash = std::rotl((hash ^ field) * kFactor, 29);
  return hash;
}

/// Finds the loops of a list from its beginning to its end.
class LoopFinder {
 public:
  explicit LoopFinder(const std::vector<Step>& list) : list_(list) {
    for (const Step& step : list) hashes_.push_back(hash_of(step));
  }

  std::vector<Loop> find() {
    for (std::size_t at = 0; at + kGram <= list_.size(); ++at) {
      const auto [last, is_new] = last_.try_emplace(gram(at), at);
      if (is_new) continue;
      const std::size_t begin = std::exchange(last->second, at);
      if (const std::size_t end = end_of(begin, at - begin)) at = end - 1;
    }
    return std::move(loops_);
  }

 private:
  std::uint64_t gram(std::size_t at) const {
    std::uint64_t hash = 0;
    for (std::size_t i = at; i < at + kGram; ++i) hash = hash * 0xBF58476D1CE4E5B9U + hashes_[i];
    return hash;
  }

  /// Adds the loop of this period if there is one, and returns its end; otherwise 0.
  std::size_t end_of(std::size_t begin, std::size_t period) {
    std::size_t& known = ends_[period];  // of an earlier beginning, within the same repeated steps
    if (begin + period < known) return 0;
    std::size_t end = begin + period;
    while (end < list_.size() && do_alike(list_[end], list_[end - period])) ++end;
    known = end;
    if (end - begin < kLeastPeriods * period) return 0;
    const Step* const first = list_.data();
    loops_.push_back({first + begin, first + end, static_cast<std::ptrdiff_t>(period)});
    last_.clear();
    return end;
  }

  const std::vector<Step>& list_;
  std::vector<std::uint64_t> hashes_;  ///< by step
  std::unordered_map<std::uint64_t, std::size_t>
      last_;  ///< by hash of the next steps, their latest place
  std::unordered_map<std::size_t, std::size_t> ends_;  ///< by period: where steps ceased to repeat
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Loop> find_loops(const std::vector<Step>& list) { return LoopFinder(list).find(); }

}  // namespace equarx::sim
