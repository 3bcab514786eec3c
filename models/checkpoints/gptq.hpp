// Tensors of AutoGPTQ (auto_gptq/nn_modules/qlinear) and AutoAWQ (awq/modules/linear/gemm.py):
// qweight, qzeros and scales with inputs as rows.
#pragma once

#include <vector>

#include "models/checkpoints/parts.hpp"
#include "models/checkpoints/weight.hpp"

namespace equarx::checkpoints {

/// Zero points in a GPTQ checkpoint: less one, as AutoGPTQ stores them, or as they are ("gptq_v2"
/// in GPTQModel).
enum class GptqZeros : std::uint8_t { less_one, plain };

/// - qweight: int32, inputs x bits / 32 rows of outputs; codes packed along inputs
/// - qzeros: int32, groups x (outputs x bits / 32)
/// - scales: FP16 or BF16, groups x outputs
/// - g_idx: int32, group of each input
/// @throws std::invalid_argument for a zero point of 0, which less_one cannot store
std::vector<Part> gptq_parts(const Weight& weight, GptqZeros zeros);
/// Throws FileError, as PartReader, for tensors that do not fit together and inputs out of order.
Weight read_gptq(const PartReader& parts, GptqZeros zeros);

/// - qweight: int32, inputs x (outputs / 8); 4-bit codes packed along outputs, in the order 0, 2,
///   4, 6, 1, 3, 5, 7
/// - qzeros: int32, groups x (outputs / 8), likewise
/// - scales: FP16, groups x outputs
std::vector<Part> awq_parts(const Weight& weight);
/// Throws FileError as read_gptq().
Weight read_awq(const PartReader& parts);

}  // namespace equarx::checkpoints
