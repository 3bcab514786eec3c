#include "models/gemm/scheme.hpp"

#include <string>

#include "tests/catch.hpp"
#include "tests/models/gemm/schemes.hpp"

namespace equarx::gemm::scheme_test {
namespace {

using testing::e4m3_format;
using testing::integer_scheme;
using testing::integers;
using testing::weight_only;

void check_refused(const Scheme& scheme, const std::string& remedy) {
  CHECK_THROWS_WITH(check(scheme), ContainsSubstring(remedy));
}

TEST_CASE("scheme: integers need an int32 accumulator, and floats have none") {
  Scheme scheme = integer_scheme(integers(8), integers(8), Unit::int8);
  CHECK_NOTHROW(check(scheme));
  scheme.accumulate = Accumulator::fp32;
  check_refused(scheme, "write \"int32\"");
  scheme = weight_only(integers(4), Unit::bf16);
  scheme.accumulate = Accumulator::int32;
  check_refused(scheme, "need the unit int8");
}

TEST_CASE("scheme: units multiply only their own elements") {
  check_refused(integer_scheme(testing::e4m3_format({}), integers(8), Unit::int8),
                "weights are no integers");
  check_refused(integer_scheme(integers(8), integers(4), Unit::table), "more than 4 bits");
  Scheme scheme{.source = "", .weights = e4m3_format({}), .activations = std::nullopt};
  scheme.unit = Unit::fp8;
  scheme.scales = ScalePlacement::by_group;
  check_refused(scheme, "activations need a format");
  scheme.activations = integers(5);  // up to 15, which E4M3 represents
  CHECK_NOTHROW(check(scheme));
  scheme.activations = integers(6);  // 17 is no E4M3 and no E5M2 number
  check_refused(scheme, "activations have elements that are no numbers of the unit fp8");
  scheme.unit = Unit::fp4;
  check_refused(scheme, "weights have elements that are no numbers of the unit fp4");
  scheme.scales = ScalePlacement::before;
  check_refused(scheme, "the unit multiplies codes");
}

TEST_CASE("scheme: scales are applied only where groups and zero points allow") {
  Scheme scheme = integer_scheme(integers(4, 32), integers(8), Unit::int8);
  scheme.scales = ScalePlacement::end;
  check_refused(scheme, "need one group per row");
  scheme = weight_only(integers(4), Unit::bf16);
  scheme.scales = ScalePlacement::by_group;
  CHECK_NOTHROW(check(scheme));
  scheme.weights->groups = {stored::Along::column, 0};
  check_refused(scheme, "groups across rows");
  scheme.weights = integers(4);
  scheme.weights->apart.largest = 0.01;
  check_refused(scheme, "values apart");
  scheme.weights = stored::testing::kmeans_format(3, {stored::Along::row, 0});
  check_refused(scheme, "fitted tables");
  scheme.weights =
      integers(4, 0, {.rule = stored::RangeRule::min_max, .zero_point = stored::ZeroPoint::real});
  check_refused(scheme, "the zero point float");
}

TEST_CASE("scheme: transforms of both operands cancel") {
  Scheme scheme = integer_scheme(integers(8), integers(8), Unit::int8);
  scheme.weights->before.hadamard = 16;
  check_refused(scheme, "use the same block");
  scheme.activations->before.hadamard = 16;
  CHECK_NOTHROW(check(scheme));
  scheme.weights->before.column_factors = {2.0, 4.0};
  check_refused(scheme, "give reciprocals");
  scheme.activations->before.column_factors = {0.5, 0.25};
  CHECK_NOTHROW(check(scheme));
}

}  // namespace
}  // namespace equarx::gemm::scheme_test
