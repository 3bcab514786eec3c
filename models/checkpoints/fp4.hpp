// Tensors of FP4 weights: "mxfp4-pack-quantized" of compressed-tensors (compressors/mxfp4,
// compressors/nvfp4/helpers.py), and NVFP4 as NVIDIA's ModelOpt exports it.
#pragma once

#include <vector>

#include "models/checkpoints/parts.hpp"
#include "models/checkpoints/weight.hpp"

namespace equarx::checkpoints {

/// - weight_packed: uint8, outputs x (inputs / 2), the first code in the lower half
/// - weight_scale: uint8, outputs x (inputs / 32), exponents with bias 127
std::vector<Part> mxfp4_parts(const Weight& weight);
/// Throws FileError, as PartReader, for tensors that do not fit together.
Weight read_mxfp4(const PartReader& parts);

/// - weight: uint8, as weight_packed above
/// - weight_scale: E4M3, outputs x (inputs / 16)
/// - weight_scale_2: FP32, scale of the tensor
std::vector<Part> nvfp4_parts(const Weight& weight);
/// Throws FileError as read_mxfp4().
Weight read_nvfp4(const PartReader& parts);

/// "nvfp4-pack-quantized" of compressed-tensors, whose scales are E4M3 / an FP32 number:
/// - weight_packed: as above
/// - weight_scale: E4M3, outputs x (inputs / 16)
/// - weight_global_scale: FP32
/// Throws FileError as read_mxfp4().
Weight read_nvfp4_pack_quantized(const PartReader& parts);

/// E2M1.
stored::Elements e2m1_elements();

}  // namespace equarx::checkpoints
