// Arithmetic of the AllReduce kernels of NCCL, RCCL and inference engines.
#include <vector>

#include "experiments/config/arithmetic_json.hpp"

namespace equarx::config {

std::span<const ArithmeticPreset> arithmetic_presets() {
  using collectives::Residual;
  using collectives::SumOrder;
  using numerics::ElementFormat;
  static const std::vector<ArithmeticPreset> presets = {
      {.name = "nccl-ring",
       .algorithms = {"ring", "node-ring"},
       .arithmetic = {},
       .source = "NVIDIA/nccl, src/device/reduce_kernel.h and src/device/all_reduce.h "
                 "(https://github.com/NVIDIA/nccl)"},
      {.name = "nccl-tree",
       .algorithms = {"tree"},
       .arithmetic = {},
       .source = "NVIDIA/nccl, src/device/all_reduce.h (https://github.com/NVIDIA/nccl)"},
      {.name = "nccl-nvls",
       .algorithms = {"nvls"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .source = "PTX ISA, multimem.ld_reduce with .acc::f32 "
                 "(https://docs.nvidia.com/cuda/parallel-thread-execution)"},
      {.name = "trtllm-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.round = RoundSums::rank},
       .source = "NVIDIA/TensorRT-LLM, customAllReduceKernels.cu, oneShotAllReduceKernel; "
                 "https://github.com/sgl-project/sglang/issues/34603"},
      {.name = "trtllm-two-shot",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.round = RoundSums::rank, .order = SumOrder::ranks},
       .source = "NVIDIA/TensorRT-LLM, customAllReduceKernels.cu, twoShotAllReduceKernel"},
      {.name = "sglang-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .source = "https://github.com/sgl-project/sglang/pull/36143"},
      {.name = "vllm-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .source = "vllm-project/vllm, csrc/custom_all_reduce.cuh, packed_reduce"},
      {.name = "vllm-two-shot",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .order = SumOrder::owner},
       .source = "vllm-project/vllm, csrc/custom_all_reduce.cuh, cross_device_reduce_2stage; "
                 "https://github.com/vllm-project/vllm/pull/57042"},
      {.name = "vllm-two-shot-ranks",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .order = SumOrder::ranks},
       .source = "https://github.com/vllm-project/vllm/pull/57042"},
      {.name = "aiter-fused-fp32",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .residual = Residual::before},
       .source = "https://github.com/ROCm/aiter/pull/2586"},
      {.name = "aiter-fused",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .residual = Residual::after},
       .source = "https://github.com/ROCm/aiter/pull/2586"},
  };
  return presets;
}

}  // namespace equarx::config
