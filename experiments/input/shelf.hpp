// Things that take long to make and are asked for again and again.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace equarx::input {

/// Values by their names, each made when it is first asked for, and kept. Several threads may ask.
template <typename Value>
class Shelf {
 public:
  /// The value of that name. `fill` is given an empty one to make it of; what it throws is thrown, and nothing is kept.
  template <typename Fill>
  const Value& get(std::string_view name, Fill&& fill) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = values_.try_emplace(std::string(name));
    if (!is_new) return place->second;
    try {
      fill(place->second);
    } catch (...) {
      values_.erase(place);
      throw;
    }
    return place->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value> values_;
};

}  // namespace equarx::input
