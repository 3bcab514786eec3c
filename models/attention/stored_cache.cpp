#include "models/attention/stored_cache.hpp"

#include <stdexcept>

#include "models/stored/stored_codec.hpp"

namespace equarx::attention {
namespace {

std::vector<float> stored_values(const stored::StoredFormat& format, const CacheShape& shape,
                                 std::span<const float> values, unsigned threads) {
  if (stored::needs_importance(format) || stored::needs_inputs(format))
    throw std::invalid_argument(
        "the format depends on importance or on inputs of a layer, which a cache has not; use "
        "another");
  return stored::decode(format,
                        stored::encode(format, {.rows = shape.tokens, .columns = shape.columns()},
                                       values, {}, threads),
                        threads);
}

double bits_of(const stored::StoredFormat& format, const CacheShape& shape) {
  const stored::Shape rows{.rows = shape.tokens, .columns = shape.columns()};
  return static_cast<double>(stored::stored_bits(format, rows).total()) /
         static_cast<double>(shape.elements());
}

}  // namespace

StoredCache::StoredCache(const Cache& exact, const CacheFormats& formats, unsigned threads)
    : OwnedCache{.shape = exact.shape,
                 .keys = stored_values(formats.keys, exact.shape, exact.keys, threads),
                 .values = stored_values(formats.values, exact.shape, exact.values, threads)},
      keys_bits(bits_of(formats.keys, shape)),
      values_bits(bits_of(formats.values, shape)) {}

}  // namespace equarx::attention
