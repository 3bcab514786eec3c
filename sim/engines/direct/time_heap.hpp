// Indexed priority queue of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace equarx::sim {

/// Optional times of the ids 0 to size - 1, with access to the earliest.
class TimeHeap {
 public:
  explicit TimeHeap(std::size_t size) : place_(size, kNone) {}

  bool empty() const { return heap_.empty(); }
  double earliest_s() const {
    return heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().time_s;
  }
  std::uint32_t earliest() const { return heap_.front().id; }

  /// Inserts or changes the time of `id`.
  void set(std::uint32_t id, double time_s) {
    if (place_[id] == kNone) {
      place_[id] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({time_s, id});
      return rise(place_[id]);
    }
    const std::uint32_t at = place_[id];
    const double before_s = std::exchange(heap_[at].time_s, time_s);
    time_s < before_s ? rise(at) : sink(at);
  }

  /// Removes the time of `id`, if any.
  void erase(std::uint32_t id) {
    const std::uint32_t at = std::exchange(place_[id], kNone);
    if (at == kNone) return;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, last);
    rise(at);
    sink(place_[last.id]);
  }

 private:
  struct Entry {
    double time_s = 0.0;
    std::uint32_t id = 0;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void put(std::uint32_t at, const Entry& entry) {
    heap_[at] = entry;
    place_[entry.id] = at;
  }
  void rise(std::uint32_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::uint32_t above = (at - 1) / 2;
      if (heap_[above].time_s <= entry.time_s) break;
      put(at, heap_[above]);
      at = above;
    }
    put(at, entry);
  }
  void sink(std::uint32_t at) {
    const Entry entry = heap_[at];
    for (std::uint32_t below = 2 * at + 1; below < heap_.size(); below = 2 * at + 1) {
      if (below + 1 < heap_.size() && heap_[below + 1].time_s < heap_[below].time_s) ++below;
      if (entry.time_s <= heap_[below].time_s) break;
      put(at, heap_[below]);
      at = below;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;  ///< by id: index in heap_, or kNone
};

}  // namespace equarx::sim
