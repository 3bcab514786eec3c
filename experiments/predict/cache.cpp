#include "experiments/predict/cache.hpp"

#include <exception>
#include <string>
#include <utility>

namespace equarx::predict {

std::size_t QueryHash::operator()(const Query& query) const noexcept {
  std::size_t hash = std::hash<std::uint64_t>{}(query.bytes) ^ (std::size_t{query.ranks} << 48);
  for (const std::string* text :
       {&query.collective, &query.dtype, &query.format, &query.algorithm, &query.options})
    hash = hash * 0x9E3779B97F4A7C15ULL + std::hash<std::string>{}(*text);
  return hash;
}

std::shared_ptr<const Prediction> Cache::find(const Query& query) const {
  const std::shared_lock lock(mutex_);
  const auto at = entries_.find(query);
  if (at == entries_.end()) return nullptr;
  at->second.found.store(true, std::memory_order_relaxed);
  return at->second.prediction;
}

std::shared_ptr<const Prediction> Cache::find_or_make(
    const Query& query, const std::function<std::shared_ptr<const Prediction>()>& make) {
  if (auto known = find(query)) return known;
  std::promise<std::shared_ptr<const Prediction>> promise;
  {
    std::unique_lock lock(making_mutex_);
    if (auto known = find(query)) return known;  // made meanwhile
    if (const auto at = making_.find(query); at != making_.end()) {
      const Made made = at->second;
      lock.unlock();
      return made.get();
    }
    making_.emplace(query, promise.get_future().share());
  }
  std::shared_ptr<const Prediction> prediction;
  std::exception_ptr error;
  try {
    prediction = make();
    insert(query, prediction);
    promise.set_value(prediction);
  } catch (...) {
    error = std::current_exception();
    promise.set_exception(error);
  }
  const std::scoped_lock lock(making_mutex_);
  making_.erase(query);
  if (error) std::rethrow_exception(error);
  return prediction;
}

void Cache::insert(const Query& query, std::shared_ptr<const Prediction> prediction) {
  const std::unique_lock lock(mutex_);
  if (entries_.contains(query)) return;
  if (entries_.size() >= capacity_) evict_one();
  const auto added = entries_.try_emplace(query).first;
  added->second.prediction = std::move(prediction);
  order_.push_back(&added->first);
}

void Cache::evict_one() {
  while (true) {
    const Query* const oldest = order_.front();
    order_.pop_front();
    const auto at = entries_.find(*oldest);
    if (!at->second.found.exchange(false, std::memory_order_relaxed)) {
      entries_.erase(at);
      return;
    }
    order_.push_back(oldest);
  }
}

std::size_t Cache::size() const {
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

}  // namespace equarx::predict
