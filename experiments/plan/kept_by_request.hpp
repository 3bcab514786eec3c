// Results of a request for a program, kept for further collectives of the same shape.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "experiments/config/config.hpp"
#include "models/collectives/algorithm.hpp"

namespace equarx::plan {

/// True if equal requests make equal programs, however much later: not for algorithms from elsewhere,
/// formats with own codecs and graphs.
bool can_be_kept(config::Algorithm algorithm, const collectives::ProgramRequest& request);

/// True if two requests that can be kept are equal.
bool are_equal(const collectives::ProgramRequest& one, const collectives::ProgramRequest& other);

/// Values by algorithm and request; the least recently used are dropped. For many threads.
template <typename Value>
class KeptByRequest {
 public:
  static constexpr std::size_t kMostValues = 64;

  /// `most_bytes`: of all kept values together. Larger values are not kept.
  explicit KeptByRequest(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Returns null if there is none.
  std::shared_ptr<const Value> find(config::Algorithm algorithm,
                                    const collectives::ProgramRequest& request) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
      return entry.algorithm == algorithm && are_equal(entry.request, request);
    });
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->value;
  }

  /// True if a value of this size is kept.
  bool has_room(std::uint64_t bytes) const { return bytes <= most_bytes_; }

  /// Precondition: can_be_kept()
  void keep(config::Algorithm algorithm, const collectives::ProgramRequest& request,
            std::shared_ptr<const Value> value, std::uint64_t bytes) {
    if (!has_room(bytes)) return;
    const std::scoped_lock lock(mutex_);
    bytes_ += bytes;
    entries_.push_front({algorithm, request, std::move(value), bytes});
    while (bytes_ > most_bytes_ || entries_.size() > kMostValues) {
      bytes_ -= entries_.back().bytes;
      entries_.pop_back();
    }
  }

  /// Bytes of the kept values.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    config::Algorithm algorithm = nullptr;
    collectives::ProgramRequest request;
    std::shared_ptr<const Value> value;
    std::uint64_t bytes = 0;
  };

  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // latest use first
  std::mutex mutex_;
};

}  // namespace equarx::plan
