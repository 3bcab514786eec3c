#include "models/attention/stored_cache.hpp"

#include "models/attention/drawn.hpp"
#include "tests/catch.hpp"

namespace equarx::attention::stored_cache_test {
namespace {

/// Integers of 4 bits.
CacheFormats formats(stored::Along keys, stored::Along values) {
  CacheFormats formats;
  formats.keys.groups.along = keys;
  formats.values.groups.along = values;
  return formats;
}

TEST_CASE("a row of a stored cache is a token of all heads, a column a channel") {
  const CacheShape shape{.tokens = 2, .heads = 2, .head_size = 2};
  const std::vector<float> keys{7, 1, 14, 2, 3.5F, 7, 7, 7};
  const std::vector<float> values{7, 3.25F, 1, 0, 70, 0, 0, 32.5F};
  const StoredCache stored({.shape = shape, .keys = keys, .values = values},
                           formats(stored::Along::column, stored::Along::row));
  CHECK(stored.keys == std::vector<float>{7, 1, 14, 2, 4, 7, 8, 7});
  CHECK(stored.values == std::vector<float>{7, 3, 1, 0, 70, 0, 0, 30});
  CHECK(stored.keys_bits == 4 + 4 * 32 / 8.0);
  CHECK(stored.values_bits == 4 + 2 * 32 / 8.0);
}

TEST_CASE("formats that need more than a cache are refused") {
  const DrawnCache cache({.tokens = 4, .heads = 1, .head_size = 8}, 1);
  CacheFormats wrong = formats(stored::Along::row, stored::Along::row);
  wrong.values.feedback.order = stored::FeedbackOrder::columns;
  CHECK_THROWS_WITH(StoredCache(cache.view(), wrong), ContainsSubstring("use another"));
}

}  // namespace
}  // namespace equarx::attention::stored_cache_test
