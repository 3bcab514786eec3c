// Table of lazily computed values, each computed once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/process/thread_pool.hpp"

namespace equarx::tune {

/// A value is computed by the first thread that claims its key: the caller of get() or a worker of
/// the pool ahead of it. Values depend neither on that nor on the number of threads.
template <class Value>
class LazyTable {
 public:
  /// Computes the value of a key; thread-safe.
  using Find = std::function<Value(std::size_t)>;

  LazyTable(std::size_t keys, Find find, process::ThreadPool& pool)
      : find_(std::move(find)), pool_(pool), states_(keys), values_(keys) {}

  /// True if the value has been computed.
  bool is_ready(std::size_t key) const {
    return states_[key].load(std::memory_order_acquire) == State::found;
  }
  /// Returns a value that is ready.
  const Value& at(std::size_t key) const { return *values_[key]; }

  /// Returns the value, computing it if needed. While a worker computes it, the caller works on the
  /// pool's queue. Only for the thread that may call ThreadPool::help_until(). @throws whatever
  /// `find` throws
  const Value& get(std::size_t key) {
    while (!is_ready(key)) {
      if (begin(key))
        find(key);
      else
        pool_.help_until([&] { return states_[key].load() != State::under_way; });
    }
    return at(key);
  }

  /// Called by workers: computes the value unless its computation has started. Drops exceptions;
  /// get() repeats the computation and throws.
  void prepare(std::size_t key) {
    if (!begin(key)) return;
    try {
      find(key);
    } catch (...) {  // get() recomputes and throws
    }
  }

 private:
  enum class State : std::uint8_t { open, under_way, found };

  bool begin(std::size_t key) {
    State open = State::open;
    return states_[key].compare_exchange_strong(open, State::under_way);
  }

  void find(std::size_t key) {
    try {
      values_[key] = find_(key);
    } catch (...) {
      end(key, State::open);
      throw;
    }
    end(key, State::found);
  }

  void end(std::size_t key, State state) {
    states_[key].store(state, std::memory_order_release);
    pool_.notify();
  }

  Find find_;
  process::ThreadPool& pool_;
  std::vector<std::atomic<State>> states_;
  std::vector<std::optional<Value>> values_;
};

}  // namespace equarx::tune
