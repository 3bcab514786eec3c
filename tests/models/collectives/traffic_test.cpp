#include "models/collectives/traffic.hpp"

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::traffic_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;

namespace {
using Bytes = std::vector<std::uint64_t>;
}

TEST_CASE("bytes of a bf16 ring, by hand") {
  // 8 chips x 2 directions x 100 elements x 2 bytes, 7 steps in each of two phases.
  const Program full =
      make_ring_all_reduce(8, 1600, ElementFormat::bf16,
                           ring(RingStyle::full_loop, {false, false}, int8_strided(), 1, 1));
  REQUIRE(sent_bytes(full) == Bytes{2 * 7 * 200, 2 * 7 * 200});
  // Whole shards of 200 elements: 4 steps forward, 3 backward.
  const Program semi =
      make_ring_all_reduce(8, 1600, ElementFormat::bf16,
                           ring(RingStyle::semi_loop, {false, false}, int8_strided(), 1, 1));
  REQUIRE(sent_bytes(semi) == Bytes{2 * 4 * 400, 2 * 3 * 400});
}

TEST_CASE("bytes of a quantized ring, by hand") {
  // 2 chips x 2 directions x 100 elements: 100 bytes of codes, 4 scales of 4 bytes, one step.
  const Program both = make_ring_all_reduce(
      2, 400, ElementFormat::bf16, ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 1, 3));
  REQUIRE(sent_bytes(both) == Bytes{2 * 116, 2 * 116});
  const Program gather =
      make_ring_all_reduce(2, 400, ElementFormat::bf16,
                           ring(RingStyle::full_loop, {false, true}, int8_blocks(32), 1, 3));
  REQUIRE(sent_bytes(gather) == Bytes{200 + 116, 200 + 116});
}

TEST_CASE("two chips of a semi-loop use one direction, without a channel for the other") {
  const Program program =
      make_ring_all_reduce(2, 400, ElementFormat::bf16,
                           ring(RingStyle::semi_loop, {false, false}, int8_strided(), 1, 1));
  REQUIRE(sent_bytes(program) == Bytes{2 * 400});
}

TEST_CASE("elements per scale, by hand") {
  // Shards of 100 elements per direction: blocks of 32 have 4 scales.
  const auto of = [](const RingOptions& options) {
    return elements_per_scale(make_ring_all_reduce(2, 400, ElementFormat::bf16, options));
  };
  CHECK(of(ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 1, 1)) == 100.0 / 4);
  CHECK(of(ring(RingStyle::full_loop, {false, true}, int8_blocks(50), 1, 1)) == 50.0);
  // Fewer elements than lanes: each element has its own scale.
  CHECK(of(ring(RingStyle::full_loop, {true, true}, int8_strided(), 1, 1)) == 1.0);
  CHECK_FALSE(of(ring(RingStyle::full_loop, {false, false}, int8_strided(), 1, 1)));
}

TEST_CASE("a program that sends nothing has no traffic") {
  Program program = make_ring_all_reduce(
      2, 400, ElementFormat::bf16, ring(RingStyle::full_loop, {true, true}, int8_strided(), 1, 1));
  program.instructions.clear();
  REQUIRE(sent_bytes(program) == Bytes{0, 0});
}

}  // namespace equarx::traffic_test
