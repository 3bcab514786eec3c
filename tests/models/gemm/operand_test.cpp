#include "models/gemm/operand.hpp"

#include "tests/catch.hpp"
#include "tests/models/gemm/schemes.hpp"

namespace equarx::gemm::operand_test {
namespace {

using stored::StoredFormat;
using testing::integer_scheme;
using testing::integers;

TEST_CASE("operand: groups of both operands divide the inputs") {
  const Scheme scheme = integer_scheme(integers(4, 4), integers(8, 6), Unit::int8);
  const std::vector<Segment> expected = {{0, 4}, {4, 6}, {6, 8}, {8, 12}};
  CHECK(segments_of(scheme, 12) == expected);
  CHECK(segments_of(testing::weight_only(integers(4, 4), Unit::bf16), 12) ==
        std::vector<Segment>{{0, 12}});
}

/// Checks (element + offset) x scale of all elements against the decoder.
void check_values(const StoredFormat& format, const testing::Values& w) {
  const Scheme scheme = integer_scheme(format, integers(8), Unit::int8);
  const std::vector<Segment> segments = segments_of(scheme, w.shape.columns);
  const CodeOperand codes = code_operand(format, w, segments);
  Scheme floats = scheme;
  floats.unit = Unit::fp32;
  const FloatOperand elements = float_operand(floats, format, w, segments);
  const auto decoded = stored::testing::stored_values(format, w.shape, w.values);
  int wrong = 0;
  for (std::size_t row = 0; row < w.shape.rows; ++row)
    for (std::size_t s = 0; s < segments.size(); ++s)
      for (std::size_t k = segments[s].begin; k < segments[s].end; ++k) {
        const std::size_t i = row * w.shape.columns + k;
        const std::size_t g = row * segments.size() + s;
        const auto code = static_cast<float>(codes.codes[i] + codes.offsets[g]);
        wrong += code * codes.scales[g] != decoded[i];
        wrong += elements.elements[i] * elements.scales[g] != decoded[i];
        wrong += std::abs(codes.codes[i] + codes.offsets[g]) > codes.largest;
      }
  CHECK(wrong == 0);
}

TEST_CASE("operand: elements times scales are the decoded values") {
  const testing::Values w(6, 96);
  check_values(integers(4), w);
  check_values(integers(8, 32), w);
  check_values(integers(4, 24, testing::kShifted), w);
  check_values(integers(2, 0, testing::kShifted), w);
  StoredFormat blocks = integers(4);
  blocks.groups = {.along = stored::Along::block, .length = 40, .rows = 4};
  check_values(blocks, w);
  blocks.groups = {};
  check_values(blocks, w);
}

TEST_CASE("operand: values without a format have the type of the unit") {
  const std::vector<float> values = {1.0F + 0x1p-9F, 1e6F};
  const Matrix matrix{{1, 2}, values};
  const Scheme scheme{.source = "", .weights = std::nullopt, .activations = std::nullopt};
  const auto bf16 = float_operand(scheme, std::nullopt, matrix, segments_of(scheme, 2));
  CHECK(bf16.elements == std::vector<float>{1.0F, 999424.0F});
  CHECK(rounded(1e6F, Unit::fp16) == 65504.0F);
  CHECK(rounded(1.0F + 0x1p-9F, Unit::fp16) == 1.0F + 0x1p-9F);
}

}  // namespace
}  // namespace equarx::gemm::operand_test
