#include "models/values/result_tensor.hpp"

#include <algorithm>
#include <iterator>

#include "models/numerics/codec/bfloat16_spans.hpp"

namespace equarx::values {

ResultTensor::ResultTensor(std::uint64_t elements, numerics::ElementFormat format)
    : elements_(elements), format_(format) {
  if (format == numerics::ElementFormat::bf16)
    bf16_.resize(elements);
  else
    fp32_.resize(elements);
}

void ResultTensor::write(std::uint64_t first, std::span<const float> values) {
  if (format_ == numerics::ElementFormat::bf16)
    numerics::encode_bf16(values, std::span(bf16_).subspan(first, values.size()));
  else
    std::ranges::copy(values, fp32_.begin() + static_cast<std::ptrdiff_t>(first));

  const std::scoped_lock lock(mutex_);
  auto here = written_.emplace(first, first + values.size()).first;
  const auto after = std::next(here);
  if (after != written_.end() && after->first == here->second) {
    here->second = after->second;
    written_.erase(after);
  }
  if (here == written_.begin()) return;
  const auto before = std::prev(here);
  if (before->second != here->first) return;
  before->second = here->second;
  written_.erase(here);
}

void ResultTensor::read(std::uint64_t first, std::span<float> values) const {
  if (format_ == numerics::ElementFormat::bf16)
    numerics::decode_bf16(std::span(bf16_).subspan(first, values.size()), values);
  else
    std::ranges::copy_n(fp32_.begin() + static_cast<std::ptrdiff_t>(first),
                        static_cast<std::ptrdiff_t>(values.size()), values.begin());
}

std::vector<collectives::Range> ResultTensor::known(collectives::Range range) const {
  std::vector<collectives::Range> parts;
  auto at = written_.upper_bound(range.begin);
  if (at != written_.begin()) --at;
  for (; at != written_.end() && at->first < range.end; ++at) {
    const collectives::Range part{std::max(at->first, range.begin),
                                  std::min(at->second, range.end)};
    if (part.begin < part.end) parts.push_back(part);
  }
  return parts;
}

}  // namespace equarx::values
