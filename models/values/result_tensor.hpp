#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::values {

/// The result of a collective, in the tensor's type; all ranks have the same. Only some of it may be known.
class ResultTensor {
 public:
  ResultTensor(std::uint64_t elements, numerics::ElementFormat format);

  std::uint64_t elements() const { return elements_; }
  /// Pieces that do not overlap may be written by different threads.
  void write(std::uint64_t first, std::span<const float> values);
  void read(std::uint64_t first, std::span<float> values) const;

  /// The parts of a range that have been written, in order. Not to be called while others write.
  std::vector<collectives::Range> known(collectives::Range range) const;

 private:
  std::uint64_t elements_;
  numerics::ElementFormat format_;
  std::vector<float> fp32_;
  std::vector<std::uint16_t> bf16_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> written_;  ///< begin -> end, merged where they touch
};

}  // namespace equarx::values
