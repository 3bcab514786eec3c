// Cache of values that are expensive to create.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace equarx::input {

/// Values by name, each created on first use. Thread-safe.
template <typename Value>
class OnceMap {
 public:
  /// Returns the value of that name. On first use `fill` initializes an empty one; if it throws,
  /// the exception is rethrown and nothing is stored.
  template <typename Fill>
  const Value& get(std::string_view name, Fill&& fill) {
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = values_.try_emplace(std::string(name));
    if (!is_new) return entry->second;
    try {
      fill(entry->second);
    } catch (...) {
      values_.erase(entry);
      throw;
    }
    return entry->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value> values_;
};

}  // namespace equarx::input
