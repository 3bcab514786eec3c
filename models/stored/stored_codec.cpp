#include "models/stored/stored_codec.hpp"

#include <stdexcept>

#include "models/stored/elements_apart.hpp"
#include "models/stored/feedback.hpp"
#include "models/stored/finite.hpp"
#include "models/stored/packed_codec.hpp"
#include "models/stored/scalar_codec.hpp"
#include "models/stored/widths.hpp"

namespace equarx::stored {

Encoded encode(const StoredFormat& format, const Shape& shape, std::span<const float> values,
               std::span<const float> importance, unsigned threads) {
  check_tensor(format, shape, values, importance);
  if (needs_inputs(format))
    throw std::invalid_argument("the format depends on the inputs of the layer; give them");
  if (has_kernels(format, shape))
    return unpacked(format, encode_packed(format, shape, values, threads));
  check_finite(values, "element");
  if (!format.widths.bits.empty())
    return encode_rows(format, shape, values, nullptr, importance, threads);
  return encode_scalar(format, shape, values, importance);
}

std::vector<float> decode(const StoredFormat& format, const Encoded& encoded, unsigned threads) {
  if (!format.widths.bits.empty()) return decode_widths(format, encoded);
  if (has_kernels(format, encoded.shape))
    return decode_packed(format, packed(format, encoded), threads);
  return decode_scalar(format, encoded);
}

}  // namespace equarx::stored
