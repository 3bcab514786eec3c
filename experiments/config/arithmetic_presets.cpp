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
       .meaning = "every hop adds two values and rounds to the tensor's type; RCCL likewise",
       .source = "NVIDIA/nccl, src/device/reduce_kernel.h and src/device/all_reduce.h "
                 "(https://github.com/NVIDIA/nccl)"},
      {.name = "nccl-tree",
       .algorithms = {"tree"},
       .arithmetic = {},
       .meaning = "every node adds the values of its children and rounds to the tensor's type",
       .source = "NVIDIA/nccl, src/device/all_reduce.h (https://github.com/NVIDIA/nccl)"},
      {.name = "nccl-nvls",
       .algorithms = {"nvls"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .meaning = "the switch adds in FP32 and rounds once",
       .source = "PTX ISA, multimem.ld_reduce with .acc::f32 "
                 "(https://docs.nvidia.com/cuda/parallel-thread-execution)"},
      {.name = "trtllm-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.round = RoundSums::rank},
       .meaning = "from rank 0 on, rounded to the tensor's type after every rank; FlashInfer's "
                  "`trtllm` without `fp32_acc`",
       .source = "NVIDIA/TensorRT-LLM, customAllReduceKernels.cu, oneShotAllReduceKernel; "
                 "https://github.com/sgl-project/sglang/issues/34603"},
      {.name = "trtllm-two-shot",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.round = RoundSums::rank, .order = SumOrder::ranks},
       .meaning = "the same sums, each at its owner",
       .source = "NVIDIA/TensorRT-LLM, customAllReduceKernels.cu, twoShotAllReduceKernel"},
      {.name = "sglang-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .meaning =
           "FlashInfer's `trtllm` with `fp32_acc`, SGLang's default since August 2026: FP32, "
           "rounded once",
       .source = "https://github.com/sgl-project/sglang/pull/36143"},
      {.name = "vllm-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .meaning =
           "vLLM's and aiter's custom AllReduce, one stage: FP32 from rank 0 on, rounded once",
       .source = "vllm-project/vllm, csrc/custom_all_reduce.cuh, packed_reduce"},
      {.name = "vllm-two-shot",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .order = SumOrder::owner},
       .meaning = "two stages: FP32 from the shard's owner on, so that bits depend on the owner",
       .source = "vllm-project/vllm, csrc/custom_all_reduce.cuh, cross_device_reduce_2stage; "
                 "https://github.com/vllm-project/vllm/pull/57042"},
      {.name = "vllm-two-shot-ranks",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .order = SumOrder::ranks},
       .meaning = "two stages in the order of ranks: the bits of one stage",
       .source = "https://github.com/vllm-project/vllm/pull/57042"},
      {.name = "aiter-fused-fp32",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .residual = Residual::before},
       .meaning = "aiter's fused AllReduce, residual and norm before April 2026: the residual is "
                  "added to the FP32 sum",
       .source = "https://github.com/ROCm/aiter/pull/2586"},
      {.name = "aiter-fused",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .residual = Residual::after},
       .meaning = "the same since then: the sum is rounded first, as without fusion",
       .source = "https://github.com/ROCm/aiter/pull/2586"},
  };
  return presets;
}

}  // namespace equarx::config
