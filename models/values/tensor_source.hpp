#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "models/formats/block_format.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/tensors/tensor_file.hpp"
#include "models/values/value_cache.hpp"

namespace equarx::values {

/// The input tensors of the ranks of a collective, generated or read piece by piece on demand.
class TensorSource {
 public:
  /// Synthetic tensors of `elements` elements per rank, rounded to `format`, one of kTensorFormats.
  TensorSource(const numerics::InputSpec& spec, std::uint64_t elements,
               numerics::ElementFormat format);

  /// Tensors in files, `elements` elements per rank, rounded to `format`.
  TensorSource(tensors::TensorFiles files, std::uint64_t elements, numerics::ElementFormat format);

  /// Tensors in memory, one per rank with `elements` elements each, rounded to `format`.
  TensorSource(std::vector<tensors::MemoryTensor> ranks, std::uint64_t elements,
               numerics::ElementFormat format);

  /// Tensors of fewer ranks: rank r has the sum, in FP32 and in the order of ranks, of the `count`
  /// ranks of `source` from r x count on, rounded to its format. As the partial sums of a matrix
  /// product that is divided among fewer chips.
  static TensorSource grouped(const TensorSource& source, std::uint32_t count);

  /// The first elements of each rank's tensor.
  static TensorSource prefix(const TensorSource& source, std::uint64_t elements);

  /// Caches values from now on, up to `most_bytes`, for later reads.
  void keep(std::uint64_t most_bytes);

  std::uint64_t elements() const { return elements_; }
  numerics::ElementFormat format() const { return format_; }

  /// Reads elements first, first + 1, ... of `rank`; zeros past the end of the tensor. Thread-safe.
  void read(std::uint32_t rank, std::uint64_t first, std::span<float> values) const;
  /// Reads `columns` elements from `first` on, as many from kRegisterElements further, and so on.
  void read_rows(std::uint32_t rank, std::uint64_t first, std::size_t columns,
                 std::span<float> values) const;

 private:
  void make(std::uint32_t rank, std::uint64_t first, std::span<float> values) const;

  struct Grouped {
    std::shared_ptr<const TensorSource> source;
    std::uint32_t count = 1;
  };

  void sum_group(const Grouped& grouped, std::uint32_t rank, std::uint64_t first,
                 std::span<float> values) const;

  std::variant<numerics::InputSpec, tensors::TensorFiles, std::vector<tensors::MemoryTensor>,
               Grouped>
      values_;
  std::uint64_t elements_;
  numerics::ElementFormat format_;
  std::shared_ptr<ValueCache> cache_;  ///< null unless keep() was called
};

/// Rounds values to a tensor type, in place. Throws std::logic_error if `format` is not one of
/// kTensorFormats.
void round_to_tensor(numerics::ElementFormat format, std::span<float> values);

}  // namespace equarx::values
