// Groups of columns with different bits.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "models/stored/layer_inputs.hpp"
#include "models/stored/quantizer.hpp"
#include "models/stored/stored_codec.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Quantizers of groups within rows, in row-major order. A group of 1 bit is binary: the mean of
/// its values plus or minus the mean of their magnitudes, with a zero point in the scale's type.
class GroupQuantizers {
 public:
  GroupQuantizers(const StoredFormat& format, const Shape& shape);

  const Quantizer& of(std::size_t group) const;
  GroupScale scale_of(std::size_t group, std::span<const float> values, float unit) const;

 private:
  std::size_t width_of(std::size_t group) const;

  static constexpr std::size_t kWidths = 9;
  const std::vector<int> widths_;
  const std::size_t equal_;
  const numerics::ScaleFormat type_;
  std::array<std::optional<Quantizer>, kWidths> by_width_;
};

/// Bits of each group of columns by salience, the sum of w^2 / (diagonal of `root`)^2, `root` as
/// inverse_root(): as many of the least salient groups get one bit less as of the most salient get
/// one more. Their number is the one of least Kullback-Leibler divergence of softmax(X W^T), rounded
/// without feedback, from exact weights; 0 to half of the groups.
/// `values`, `inputs`: after transform(). On up to `threads` threads. @throws std::invalid_argument
/// without tokens
std::vector<int> widths_by_salience(const StoredFormat& format, const Shape& shape,
                                    std::span<const float> values, const LayerInputs& inputs,
                                    std::span<const double> root, unsigned threads = 1);

/// decode() of a format with widths.
std::vector<float> decode_widths(const StoredFormat& format, const Encoded& encoded);

}  // namespace equarx::stored
