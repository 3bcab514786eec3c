#include "importers/hlo/tensor_types.hpp"

#include <stdexcept>

namespace equarx::steps {

using hlo::CollectiveKind;
using numerics::ElementFormat;

TensorType tensor_type(std::string_view type) {
  if (type == "f32") return {ElementFormat::fp32};
  if (type == "bf16") return {ElementFormat::bf16};
  if (type == "f16") return {ElementFormat::fp16};
  if (type == "f8e4m3fn" || type == "f8e4m3") return {ElementFormat::fp8_e4m3};
  if (type == "f8e5m2") return {ElementFormat::fp8_e5m2};
  constexpr std::uint32_t kByte = 8;
  constexpr std::uint32_t kTwoBytes = 16;
  const std::uint32_t bits = hlo::type_bits(type);
  if (bits <= kByte) return {ElementFormat::fp8_e4m3, false};
  return {bits == kTwoBytes ? ElementFormat::bf16 : ElementFormat::fp32, false};
}

std::optional<collectives::Collective> collective_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return collectives::Collective::all_reduce;
    case CollectiveKind::reduce_scatter: return collectives::Collective::reduce_scatter;
    case CollectiveKind::all_gather: return collectives::Collective::all_gather;
    case CollectiveKind::all_to_all: return collectives::Collective::all_to_all;
    case CollectiveKind::broadcast: return collectives::Collective::broadcast;
    case CollectiveKind::permute: return std::nullopt;
  }
  throw std::logic_error("unknown collective");
}

}  // namespace equarx::steps
