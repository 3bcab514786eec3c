// A bounded cache of predictions.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "experiments/predict/query.hpp"

namespace equarx::predict {

/// Predictions by query, at most `capacity`. If it is full, the oldest that has not been found since
/// the last eviction pass is evicted (second chance). Thread-safe: find() takes a shared lock.
class Cache {
 public:
  /// `capacity`: at least 1
  explicit Cache(std::size_t capacity) : capacity_(capacity) {}

  /// Null if the query is not cached.
  std::shared_ptr<const Prediction> find(const Query& query) const;
  /// The cached prediction, or else the result of `make`, which is then cached. Threads that ask for
  /// the same query at once wait for one call of `make`. @throws as `make`, in all of these threads
  std::shared_ptr<const Prediction> find_or_make(
      const Query& query, const std::function<std::shared_ptr<const Prediction>()>& make);
  /// Adds a prediction. Keeps an earlier one of the same query.
  void insert(const Query& query, std::shared_ptr<const Prediction> prediction);
  std::size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<const Prediction> prediction;
    mutable std::atomic<bool> found = false;  ///< since it was inserted or last spared
  };

  using Made = std::shared_future<std::shared_ptr<const Prediction>>;

  void evict_one();

  const std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Query, Entry, QueryHash> entries_;
  std::deque<const Query*> order_;  ///< keys of `entries_`, the next candidate for eviction first
  std::mutex making_mutex_;
  std::unordered_map<Query, Made, QueryHash> making_;  ///< by queries whose `make` runs
};

}  // namespace equarx::predict
