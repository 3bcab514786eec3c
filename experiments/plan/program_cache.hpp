// Programs kept for collectives of the same shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "experiments/config/config.hpp"
#include "models/collectives/algorithm.hpp"

namespace equarx::plan {

/// Programs by algorithm and request, which determine them; the least recently used are dropped. For
/// many threads.
class ProgramCache {
 public:
  static constexpr std::size_t kMostPrograms = 64;

  /// `most_bytes`: of all kept programs together. Larger programs are not kept.
  explicit ProgramCache(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Returns the kept program, or makes it. Programs of algorithms from elsewhere, of formats with
  /// own codecs and of graphs are not kept. @throws std::invalid_argument like AlgorithmInfo::make
  std::shared_ptr<const collectives::Program> make(config::Algorithm algorithm,
                                                   const collectives::ProgramRequest& request);

  /// Bytes of the kept programs.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    config::Algorithm algorithm = nullptr;
    collectives::ProgramRequest request;
    std::shared_ptr<const collectives::Program> program;
    std::uint64_t bytes = 0;
  };

  std::shared_ptr<const collectives::Program> find(config::Algorithm algorithm,
                                                   const collectives::ProgramRequest& request);
  void keep(Entry entry);

  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // latest use first
  std::mutex mutex_;
};

/// The cache of this process: points of a sweep and candidates of a search often share programs.
ProgramCache& program_cache();

}  // namespace equarx::plan
