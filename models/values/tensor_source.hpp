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
#include "models/values/kept_values.hpp"

namespace equarx::values {

/// The tensors that the ranks bring to a collective, made or read piece by piece when they are needed.
class TensorSource {
 public:
  /// Synthetic values of `elements` elements, rounded to `format`, one of kTensorFormats.
  TensorSource(const numerics::InputSpec& spec, std::uint64_t elements,
               numerics::ElementFormat format);

  /// Values of files, rounded to `format`; each rank has `elements` of them.
  TensorSource(tensors::TensorFiles files, std::uint64_t elements, numerics::ElementFormat format);

  /// Values of tensors in memory, one of `elements` elements for each rank, rounded to `format`.
  TensorSource(std::vector<tensors::MemoryTensor> ranks, std::uint64_t elements,
               numerics::ElementFormat format);

  /// Keeps values from now on, up to so many bytes, for those who read them again.
  void keep(std::uint64_t most_bytes);

  std::uint64_t elements() const { return elements_; }
  numerics::ElementFormat format() const { return format_; }

  /// Elements first, first + 1, ... of `rank`; zeros beyond the end of the tensor. Thread-safe.
  void read(std::uint32_t rank, std::uint64_t first, std::span<float> values) const;

 private:
  void make(std::uint32_t rank, std::uint64_t first, std::span<float> values) const;

  std::variant<numerics::InputSpec, tensors::TensorFiles, std::vector<tensors::MemoryTensor>>
      values_;
  std::uint64_t elements_;
  numerics::ElementFormat format_;
  std::shared_ptr<KeptValues> kept_;  ///< if there are any
};

/// Rounds values to the type of a tensor, in place. std::logic_error if it is none of kTensorFormats.
void round_to_tensor(numerics::ElementFormat format, std::span<float> values);

}  // namespace equarx::values
