// A quantized weight between a stored tensor and the tensors of a checkpoint.
#pragma once

#include "models/checkpoints/code_matrix.hpp"
#include "models/stored/packed_codec.hpp"

namespace equarx::checkpoints {

/// Codes of a matrix of outputs x inputs, and scales of groups of consecutive inputs.
struct Weight {
  stored::Elements elements;  ///< integers, or minifloats
  numerics::ScaleFormat scale_type = numerics::ScaleFormat::fp16;
  std::size_t inputs = 0;
  Words words;                ///< codes of outputs x inputs by pack_rows(); integers count from 0,
                              ///< minifloats are sign and magnitude
  Matrix<float> scales;       ///< outputs x groups, tensor scale included
  Codes zero_points;          ///< outputs x groups; empty: the middle code of integers
  float tensor_scale = 1.0F;  ///< 1 without one
};

/// A stored tensor with its format.
struct Stored {
  stored::StoredFormat format;
  stored::Packed packed;
};

/// Middle one of the codes of `bits` bits, zero point of symmetric integers.
constexpr int middle_code(int bits) { return 1 << (bits - 1); }

/// Integers of `bits` bits.
stored::Elements integer_elements(int bits);

/// Codes of outputs x inputs.
Codes codes_of(const Weight& weight);

/// The format has groups along rows, and no other zero points than codes.
Weight weight_of(const stored::StoredFormat& format, const stored::Packed& packed);

/// Inverse of weight_of(); the format has the abs-max or min-max rule, which decoding ignores.
Stored stored_of(const Weight& weight);

}  // namespace equarx::checkpoints
