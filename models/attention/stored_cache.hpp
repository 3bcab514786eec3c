// Keys and values as stored in a format.
#pragma once

#include "models/attention/cache.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::attention {

/// Formats of cached keys and values; a row of both is a token, a column a channel.
struct CacheFormats {
  stored::StoredFormat keys;
  stored::StoredFormat values;
};

/// Decoded keys and values.
struct StoredCache : OwnedCache {
  double keys_bits = 0.0;  ///< per element, all side data included
  double values_bits = 0.0;

  /// Encodes and decodes. @throws std::invalid_argument for sizes that disagree, values that are
  /// not finite, and formats that need more than the values or do not divide them
  StoredCache(const Cache& exact, const CacheFormats& formats, unsigned threads = 1);
};

}  // namespace equarx::attention
