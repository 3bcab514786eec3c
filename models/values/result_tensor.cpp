#include "models/values/result_tensor.hpp"

#include <algorithm>
#include <iterator>

namespace equarx::values {

ResultTensor::ResultTensor(std::uint64_t elements, numerics::ElementFormat format)
    : elements_(elements),
      codec_({.element = format}),
      own_(offset(elements)),
      stored_(own_.bytes()) {}

ResultTensor::ResultTensor(numerics::ElementFormat format, std::span<std::byte> stored)
    : elements_(stored.size() * 8 / numerics::element_bits(format)),
      codec_({.element = format}),
      stored_(stored) {}

/// Byte offset of an element. All tensor types occupy whole bytes.
std::size_t ResultTensor::offset(std::uint64_t elements) const {
  return numerics::payload_bytes(codec_.format(), elements);
}

void ResultTensor::write(std::uint64_t first, std::span<const float> values) {
  codec_.quantize(values, 0, {}, stored_.subspan(offset(first), offset(values.size())));

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
  codec_.dequantize(stored_.subspan(offset(first), offset(values.size())), 0, {}, values);
}

std::vector<collectives::Range> ResultTensor::written(collectives::Range range) const {
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
