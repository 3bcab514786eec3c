#include "models/values/tensor_source.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/numerics/bfloat16.hpp"

namespace equarx::values {

TensorSource::TensorSource(const numerics::InputSpec& spec, std::uint64_t elements,
                           numerics::ElementFormat format)
    : spec_(spec), elements_(elements), format_(format) {}

void TensorSource::read(std::uint32_t rank, std::uint64_t first, std::span<float> values) const {
  const std::uint64_t left = elements_ - std::min(elements_, first);
  const std::size_t real = std::min<std::uint64_t>(values.size(), left);
  numerics::generate(spec_, rank, first, values.first(real));
  round_to_tensor(format_, values.first(real));
  std::ranges::fill(values.subspan(real), 0.0F);
}

void round_to_tensor(numerics::ElementFormat format, std::span<float> values) {
  switch (format) {
    case numerics::ElementFormat::fp32: return;
    case numerics::ElementFormat::bf16: return numerics::round_to_bf16(values);
    default: throw std::logic_error("a tensor is fp32 or bf16");
  }
}

}  // namespace equarx::values
