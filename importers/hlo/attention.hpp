// FLOPs of fused attention in HLO.
#pragma once

#include <optional>

#include "importers/hlo/products.hpp"

namespace equarx::hlo {

/// Returns the products of a custom-call of fused attention, from its shapes: two per score forward,
/// five backward (workloads::kForwardProducts, kBackwardProducts), half of the scores under a causal
/// mask, and no more than the window of a sliding one.
/// - cuDNN, "__cudnn$fmha...": shape of the scores and mask from the configuration
/// - Transformer Engine, "te_fused_attn_forward_ffi" and "_backward_ffi" (transformer_engine/jax/
///   cpp_extensions/attention.py): queries, keys and values, separate or packed, with lengths and mask
///   from the configuration
/// - Pallas on TPUs, "tpu_custom_call" named "splash_mha..." or "flash_..." (jax/experimental/pallas/
///   ops/tpu): queries and keys [..., sequence, head], without a mask; dkv alone computes four
///   products, dq three
/// Returns std::nullopt for other instructions and for shapes that are none of these.
std::optional<Product> attention_of(const Instruction& instruction, const Computation& computation);

}  // namespace equarx::hlo
