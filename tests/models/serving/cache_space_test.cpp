#include "models/serving/cache_space.hpp"

#include "tests/catch.hpp"
#include "tests/models/serving/served.hpp"

namespace equarx::serving::cache_space_test {
namespace {

/// Room for 10 blocks of 4 positions.
KvCache cache() { return testing::served(testing::constant(1.0), 40.0, 4).cache; }

Sequence sequence(std::size_t request, std::uint64_t prompt, std::uint64_t prefix_tokens) {
  Sequence made;
  made.request = request;
  made.prompt = prompt;
  made.prefix_tokens = prefix_tokens;
  return made;
}

TEST_CASE("full blocks of a prefix are found, and never the last position of a prompt") {
  const KvCache blocks = cache();
  CacheSpace space(blocks, 0.0, true);
  Sequence first = sequence(0, 10, 9);
  Sequence second = sequence(1, 10, 9);
  Sequence equal = sequence(2, 8, 8);
  CHECK(blocks.blocks() == 10);
  CHECK(space.found(first) == 0);
  CHECK(space.grow(first, 10));
  CHECK(space.used_bytes() == blocks.bytes(12));
  CHECK(space.found(second) == 8);  // the third block is not full
  CHECK(space.found(equal) == 4);   // the last position is computed
  CHECK(space.grow(second, 10));
  CHECK(space.used_bytes() == blocks.bytes(16));
  space.release(first);
  space.release(second);
  CHECK(space.used_bytes() == 0.0);
  CHECK(space.peak_bytes() == blocks.bytes(16));
  CHECK(space.found(second) == 8);
}

TEST_CASE("generated tokens of a preempted sequence are found again") {
  const KvCache blocks = cache();
  CacheSpace space(blocks, 0.0, true);
  Sequence one = sequence(0, 6, 0);
  CHECK(space.grow(one, 6));
  one.generated = 4;
  CHECK(space.grow(one, 9));
  space.release(one);
  CHECK(space.found(one) == 8);
}

TEST_CASE("without kept blocks only the shared prefix is found") {
  const KvCache bytes = cache();
  CacheSpace space(bytes, bytes.bytes(8), false);
  Sequence one = sequence(0, 12, 12);
  one.prefix = 8;
  CHECK(space.grow(one, 12));
  CHECK(space.used_bytes() == Approx(bytes.bytes(12)));
  space.release(one);
  CHECK(space.found(one) == 8);
  CHECK(space.used_bytes() == Approx(bytes.bytes(8)));
  CHECK(space.evicted_blocks() == 0);
}

}  // namespace
}  // namespace equarx::serving::cache_space_test
