#include "importers/hlo/shape.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo::shape_test {
namespace {

TEST_CASE("types of HLO have their sizes") {
  CHECK(type_bits("pred") == 8);
  CHECK(type_bits("s4") == 4);
  CHECK(type_bits("bf16") == 16);
  CHECK(type_bits("f8e4m3b11fnuz") == 8);
  CHECK(type_bits("f8e8m0fnu") == 8);
  CHECK(type_bits("c128") == 128);
  CHECK(type_bits("token") == 0);
  CHECK(is_known_type("token"));
  CHECK_FALSE(is_known_type("f12"));
  CHECK(type_bits("f12") == 0);
}

TEST_CASE("bytes of a shape are the sum of its arrays, by memory space") {
  const Shape half{.type = "bf16", .lengths = {2, 3}, .parts = {}};
  const Shape nibbles{.type = "s4", .lengths = {6}, .space = MemorySpace::host, .parts = {}};
  const Shape scalar{.type = "f32", .lengths = {}, .parts = {}};
  const Shape both{.is_tuple = true, .type = {}, .lengths = {}, .parts = {half, nibbles, scalar}};
  CHECK(half.elements() == 6.0);
  CHECK(scalar.elements() == 1.0);
  CHECK(both.elements() == 0.0);
  CHECK(both.bytes() == 12.0 + 3.0 + 4.0);
  CHECK(both.bytes_in(MemorySpace::host) == 3.0);
  CHECK(both.bytes_in(MemorySpace::device) == 16.0);
  CHECK(text_of(both) == "(bf16[2,3], s4[6], f32[])");
}

}  // namespace
}  // namespace equarx::hlo::shape_test
