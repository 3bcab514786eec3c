#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/formats/block_format.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::values {

/// The result of a collective, in the tensor's type; all ranks have the same. Only some of it may be known.
class ResultTensor {
 public:
  /// Of a type that is stored without scales, else std::invalid_argument.
  ResultTensor(std::uint64_t elements, numerics::ElementFormat format);
  /// The same in memory of someone else's, which must stay where it is: `stored` holds whole elements.
  ResultTensor(numerics::ElementFormat format, std::span<std::byte> stored);

  std::uint64_t elements() const { return elements_; }
  /// Pieces that do not overlap may be written by different threads.
  void write(std::uint64_t first, std::span<const float> values);
  void read(std::uint64_t first, std::span<float> values) const;

  /// The parts of a range that have been written, in order. Not to be called while others write.
  std::vector<collectives::Range> known(collectives::Range range) const;

 private:
  std::size_t offset(std::uint64_t elements) const;

  std::uint64_t elements_;
  numerics::BlockCodec codec_;
  std::vector<std::byte> own_;  ///< empty if the memory is someone else's
  std::span<std::byte> stored_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> written_;  ///< begin -> end, merged where they touch
};

}  // namespace equarx::values
