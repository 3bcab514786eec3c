// Tensors of compressed-tensors (vllm-project/compressed-tensors, compressors/): formats
// "pack-quantized", "int-quantized" and "float-quantized".
#pragma once

#include <vector>

#include "models/checkpoints/parts.hpp"
#include "models/checkpoints/weight.hpp"

namespace equarx::checkpoints {

/// - weight_packed: int32, outputs x (inputs x bits / 32), 4 or 8 bits
/// - weight_scale: FP16, BF16 or FP32, outputs x groups
/// - weight_zero_point, unless symmetric: int32, (outputs x bits / 32) x groups, packed along
///   outputs
/// - weight_shape: int64, outputs and inputs
std::vector<Part> pack_quantized_parts(const Weight& weight);
/// Throws FileError, as PartReader, for tensors that do not fit together.
Weight read_pack_quantized(const PartReader& parts);

/// - weight: int8 or E4M3, outputs x inputs
/// - weight_scale: as above
/// - weight_zero_point, unless symmetric: int8, outputs x groups
std::vector<Part> naive_quantized_parts(const Weight& weight);
/// Throws FileError as read_pack_quantized(). @param kind integers or minifloats
Weight read_naive_quantized(const PartReader& parts, stored::ElementKind kind);

/// OFP8 E4M3.
stored::Elements e4m3_elements();

}  // namespace equarx::checkpoints
