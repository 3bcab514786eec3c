// Vector operations of element-wise HLO opcodes.
#pragma once

#include <string_view>

namespace equarx::hlo {

/// Vector operations per element. On a TPU one for every opcode: its transcendental functions have
/// a unit of their own. On a GPU, in slots of FP32 additions: a special function (reciprocal, rsqrt,
/// exp2, log2) takes 8, as an SM finishes 16 of them and 128 additions a clock (CUDA C++ Programming
/// Guide, throughput of native arithmetic instructions, compute capability 9.0); others follow from
/// the instructions that XLA emits (xla/service/gpu/elemental_ir_emitter.cc, llvm_ir/math_ops.cc).
double ops_per_element(std::string_view opcode, bool is_gpu);

}  // namespace equarx::hlo
