#include "models/steps/precision.hpp"

#include <array>

namespace equarx::steps {

std::span<const Precision> precisions() {
  using enum hardware::MatrixType;
  static constexpr std::array kAll = {
      Precision{},
      Precision{.name = "transformer-engine",
                .source = "NVIDIA Transformer Engine: linear layers in FP8 (E4M3 forward, E5M2 "
                          "backward), attention and head in bf16",
                .projections = fp8,
                .ffn = fp8},
      Precision{.name = "fp8-lm",
                .source = "FP8-LM (arXiv 2310.18313), section 2: the products of Transformer "
                          "Engine; what else is FP8 there is communicated and kept",
                .projections = fp8,
                .ffn = fp8},
      Precision{.name = "fog",
                .source = "FOG (arXiv 2505.20524): all products of a block in FP8, those of "
                          "attention too; head in bf16",
                .projections = fp8,
                .attention = fp8,
                .ffn = fp8},
  };
  return kAll;
}

}  // namespace equarx::steps
