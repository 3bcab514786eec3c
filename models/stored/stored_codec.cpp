#include "models/stored/stored_codec.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/stored/finite.hpp"
#include "models/stored/packed_codec.hpp"
#include "models/stored/scalar_codec.hpp"

namespace equarx::stored {
namespace {

void check_importance(const StoredFormat& format, std::size_t elements,
                      std::span<const float> importance) {
  if (importance.empty()) {
    if (needs_importance(format))
      throw std::invalid_argument("the format needs the importance of each element");
    return;
  }
  if (importance.size() != elements)
    throw std::invalid_argument("importance of " + std::to_string(importance.size()) +
                                " elements for a tensor of " + std::to_string(elements));
  check_finite(importance, "importance");
  if (std::ranges::any_of(importance, [](float x) { return x < 0.0F; }))
    throw std::invalid_argument("importance is negative; give squared gradients");
}

void check_encodable(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                     std::span<const float> importance) {
  check(format);
  if (values.size() != shape.elements())
    throw std::invalid_argument("the shape has " + std::to_string(shape.elements()) +
                                " elements, not " + std::to_string(values.size()));
  check_importance(format, values.size(), importance);
}

}  // namespace

Encoded encode(const StoredFormat& format, const Shape& shape, std::span<const float> values,
               std::span<const float> importance) {
  check_encodable(format, shape, values, importance);
  if (has_kernels(format, shape)) return unpacked(format, encode_packed(format, shape, values, 1));
  check_finite(values, "element");
  return encode_scalar(format, shape, values, importance);
}

std::vector<float> decode(const StoredFormat& format, const Encoded& encoded) {
  if (has_kernels(format, encoded.shape)) return decode_packed(format, packed(format, encoded), 1);
  return decode_scalar(format, encoded);
}

}  // namespace equarx::stored
