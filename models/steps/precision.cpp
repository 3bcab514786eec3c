#include "models/steps/precision.hpp"

#include <array>

namespace equarx::steps {

using hardware::MatrixType;

bool is_scaled(MatrixType type) { return type != MatrixType::bf16 && type != MatrixType::fp32; }

Scaling usual_scaling(MatrixType type) {
  if (type == MatrixType::int8) return Scaling::rows;
  return type == MatrixType::fp4 ? Scaling::mx : Scaling::delayed;
}

bool can_scale(MatrixType type, Scaling scaling) {
  if (!is_scaled(type)) return false;
  const bool by_unit = scaling == Scaling::mx || scaling == Scaling::nv;
  return type == MatrixType::fp4 ? by_unit : scaling != Scaling::nv;
}

ProductTypes all_of(MatrixType type) { return {type, type, type, usual_scaling(type)}; }

std::span<const Precision> precisions() {
  using enum MatrixType;
  static const ProductTypes kFp8 = all_of(fp8);
  static const ProductTypes kFp8Blocks{fp8, fp8, fp8, Scaling::blocks};
  static const ProductTypes kInt8 = all_of(int8);
  static const ProductTypes kSwitchBack{int8, int8, bf16, Scaling::rows};
  static const std::array kAll = {
      Precision{},
      Precision{.name = "transformer-engine",
                .source = "NVIDIA Transformer Engine: linear layers in FP8 (E4M3 forward, E5M2 "
                          "backward), attention and head in bf16",
                .projections = kFp8,
                .ffn = kFp8},
      Precision{.name = "fp8-lm",
                .source = "FP8-LM (arXiv 2310.18313), section 2: GEMMs as in Transformer Engine; "
                          "its other FP8 tensors are communicated or stored",
                .projections = kFp8,
                .ffn = kFp8},
      Precision{.name = "fog",
                .source = "FOG (arXiv 2505.20524): all GEMMs of a block in FP8, including "
                          "attention; head in bf16",
                .projections = kFp8,
                .attention = kFp8,
                .ffn = kFp8},
      Precision{.name = "deepseek-v3",
                .source = "DeepSeek-V3 (arXiv 2412.19437), section 3.3: linear layers in FP8, a "
                          "scale for 128 elements of activations and 128 x 128 of weights, sums "
                          "of 128 products promoted to FP32",
                .projections = kFp8Blocks,
                .ffn = kFp8Blocks},
      Precision{.name = "aqt-int8",
                .source = "AQT as configured by MaxText's quantization \"int8\": all three GEMMs "
                          "of linear layers in int8",
                .projections = kInt8,
                .ffn = kInt8},
      Precision{.name = "switchback",
                .source = "SwitchBack (arXiv 2304.13013): linear layers in int8 forward and for "
                          "gradients of inputs, gradients of weights in 16 bits",
                .projections = kSwitchBack,
                .ffn = kSwitchBack},
  };
  return kAll;
}

}  // namespace equarx::steps
