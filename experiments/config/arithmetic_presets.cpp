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
       .sums = "every hop adds two values and rounds to the tensor's type; RCCL likewise",
       .source = "[NCCL](https://github.com/NVIDIA/nccl), `src/device/reduce_kernel.h` and "
                 "`all_reduce.h`"},
      {.name = "nccl-tree",
       .algorithms = {"tree"},
       .arithmetic = {},
       .sums = "every node adds the values of its children and rounds",
       .source = "NCCL, `src/device/all_reduce.h`"},
      {.name = "nccl-nvls",
       .algorithms = {"nvls"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .sums = "the switch adds in FP32 and rounds once",
       .source = "[PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution), "
                 "`multimem.ld_reduce` with `.acc::f32`"},
      {.name = "trtllm-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.round = RoundSums::rank},
       .sums = "from rank 0 on, rounded after every rank; FlashInfer's `trtllm` without "
               "`fp32_acc`",
       .source = "TensorRT-LLM, `customAllReduceKernels.cu`, `oneShotAllReduceKernel`; "
                 "[sglang 34603](https://github.com/sgl-project/sglang/issues/34603)"},
      {.name = "trtllm-two-shot",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.round = RoundSums::rank, .order = SumOrder::ranks},
       .sums = "the same sums, each at its owner",
       .source = "TensorRT-LLM, `customAllReduceKernels.cu`, `twoShotAllReduceKernel`"},
      {.name = "sglang-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .sums = "FP32, rounded once: SGLang since August 2026",
       .source = "[sglang 36143](https://github.com/sgl-project/sglang/pull/36143)"},
      {.name = "vllm-one-shot",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32},
       .sums = "FP32 from rank 0 on, rounded once; aiter likewise",
       .source = "vLLM, `csrc/custom_all_reduce.cuh`, `packed_reduce`"},
      {.name = "vllm-two-shot",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .order = SumOrder::owner},
       .sums = "FP32 from the owner on, so that bits depend on the owner",
       .source = "vLLM, `csrc/custom_all_reduce.cuh`, `cross_device_reduce_2stage`; "
                 "[vllm 57042](https://github.com/vllm-project/vllm/pull/57042)"},
      {.name = "vllm-two-shot-ranks",
       .algorithms = {"two-shot", "direct"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .order = SumOrder::ranks},
       .sums = "in the order of ranks: the bits of one stage",
       .source = "[vllm 57042](https://github.com/vllm-project/vllm/pull/57042)"},
      {.name = "aiter-fused-fp32",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .residual = Residual::before},
       .sums = "the residual is added to the FP32 sum: aiter before April 2026",
       .source = "[aiter 2586](https://github.com/ROCm/aiter/pull/2586)"},
      {.name = "aiter-fused",
       .algorithms = {"one-shot"},
       .arithmetic = {.accumulate = ElementFormat::fp32, .residual = Residual::after},
       .sums = "the sum is rounded first, as without fusion",
       .source = "[aiter 2586](https://github.com/ROCm/aiter/pull/2586)"},
  };
  return presets;
}

}  // namespace equarx::config
