#include "models/workloads/cast_work.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::workloads::cast_work_test {
namespace {

using stored::Along;
using stored::ElementKind;
using stored::RangeRule;
using stored::StoredFormat;

StoredFormat int8_rows() {
  return {.elements = {.bits = 8, .levels = 255}, .groups = {Along::row, 0}};
}

TEST_CASE("a cast has the work of its range, scale and code") {
  StoredFormat format = int8_rows();
  const CastWork dynamic = cast_work(format, 64.0);
  CHECK(dynamic.vector_ops == 2 + 1 + 4);  // int8: docs/workloads.md
  CHECK(dynamic.pass_ops == 0.0);
  format.scale.rule = RangeRule::given;
  CHECK(cast_work(format, 64.0).vector_ops == 1 + 4);
  format.scale.rule = RangeRule::quantile;
  CHECK(cast_work(format, 64.0).comparisons == 6.0);
  format.scale.rule = RangeRule::search;
  format.scale.steps = 10;
  CHECK(cast_work(format, 64.0).vector_ops == 2 + 10 * (1 + 4 + 3) + 1 + 4);
}

TEST_CASE("few bits take more operations than bytes") {
  stored::Elements elements{.bits = 8, .levels = 255};
  const double int8 = encode_ops(elements);
  elements.bits = 4;
  CHECK(encode_ops(elements) > int8);
  elements = {.kind = ElementKind::minifloat, .bits = 8, .exponent_bits = 4, .mantissa_bits = 3};
  CHECK(encode_ops(elements) == 6);
  CHECK(decode_ops(elements) == 4);
  elements = {.kind = ElementKind::table, .bits = 3};
  CHECK(encode_ops(elements) == 3 * 2 + 1);
  CHECK(decode_ops(elements) == 3);
}

TEST_CASE("scales of a tensor or of columns need a reading of their own") {
  for (const stored::Groups groups :
       {stored::Groups{Along::tensor, 0}, {Along::column, 16}, {Along::strided, 4}}) {
    StoredFormat format = int8_rows();
    format.groups = groups;
    CHECK(cast_work(format, 64.0).pass_ops == 1 + 2);
    CHECK(cast_work(format, 64.0).vector_ops == 1 + 4);
    format.scale.rule = RangeRule::given;
    CHECK(cast_work(format, 64.0).pass_ops == 0.0);
  }
  StoredFormat nested = int8_rows();
  nested.groups.length = 16;
  CHECK(cast_work(nested, 64.0).pass_ops == 0.0);
  nested.scale.of_tensor = true;
  CHECK(cast_work(nested, 64.0).pass_ops == 1 + 2);
  CHECK(cast_work(nested, 64.0).vector_ops == 2 + 1 + 4);
}

TEST_CASE("activations that are prepared in advance are refused") {
  StoredFormat format = int8_rows();
  format.apart.largest = 0.01;
  CHECK_THROWS_WITH(cast_work(format, 64.0), ContainsSubstring("remove \"apart\""));
  format = int8_rows();
  format.elements.kind = ElementKind::k_means;
  CHECK_THROWS_WITH(cast_work(format, 64.0), ContainsSubstring("use integers"));
}

}  // namespace
}  // namespace equarx::workloads::cast_work_test
