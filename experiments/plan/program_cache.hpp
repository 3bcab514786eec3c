// Programs kept for collectives of the same shape.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/config/config.hpp"
#include "experiments/plan/kept_by_request.hpp"
#include "models/collectives/algorithm.hpp"

namespace equarx::plan {

/// Memory of a program.
std::uint64_t bytes_of(const collectives::Program& program);

/// Programs by algorithm and request, which determine them. For many threads.
class ProgramCache {
 public:
  /// `most_bytes`: of all kept programs together. Larger programs are not kept.
  explicit ProgramCache(std::uint64_t most_bytes) : kept_(most_bytes) {}

  /// Returns the kept program, or makes it. Programs that can_be_kept() excludes are not kept.
  /// @throws std::invalid_argument like AlgorithmInfo::make
  std::shared_ptr<const collectives::Program> make(config::Algorithm algorithm,
                                                   const collectives::ProgramRequest& request);

  /// The same as a program of the caller's own.
  collectives::Program copy(config::Algorithm algorithm,
                            const collectives::ProgramRequest& request);

  /// Bytes of the kept programs.
  std::uint64_t bytes() const { return kept_.bytes(); }

 private:
  KeptByRequest<collectives::Program> kept_;
};

/// The cache of this process: points of a sweep and candidates of a search often share programs.
ProgramCache& program_cache();

}  // namespace equarx::plan
