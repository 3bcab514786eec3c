// A bounded cache of predictions.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
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
  /// Adds a prediction. Keeps an earlier one of the same query.
  void insert(const Query& query, std::shared_ptr<const Prediction> prediction);
  std::size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<const Prediction> prediction;
    mutable std::atomic<bool> found = false;  ///< since it was inserted or last spared
  };

  void evict_one();

  const std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Query, Entry, QueryHash> entries_;
  std::deque<const Query*> order_;  ///< keys of `entries_`, the next candidate for eviction first
};

}  // namespace equarx::predict
