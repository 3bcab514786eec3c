#include "models/workloads/scheme_work.hpp"

#include <stdexcept>

#include "models/workloads/footprint.hpp"
#include "models/workloads/roofline.hpp"
#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::scheme_work_test {
namespace {

using gemm::ScalePlacement;
using gemm::Scheme;
using gemm::Unit;
using hardware::MatrixType;
using stored::Along;
using stored::StoredFormat;
using testing::tiny;

constexpr double kRows = 5;
constexpr double kInputs = 64;
constexpr double kOutputs = 32;

StoredFormat integers(int bits, std::size_t group = 0) {
  StoredFormat format{.groups = {Along::row, group}};
  format.elements.bits = bits;
  format.elements.levels = (1U << static_cast<unsigned>(bits)) - 1;
  format.scale.type = numerics::ScaleFormat::fp16;
  return format;
}

StoredFormat with_zero_point(StoredFormat format) {
  format.scale.rule = stored::RangeRule::min_max;
  format.scale.zero_point = stored::ZeroPoint::rounded;
  return format;
}

Operation plain() {
  Operation product{.name = "product", .kind = OperationKind::matrix};
  product.gemm = {kRows, kInputs, kOutputs};
  product.flops = 2 * kRows * kInputs * kOutputs;
  product.weight_bytes = kInputs * kOutputs * 2;
  product.read_bytes = kRows * kInputs * 2;
  product.written_bytes = kRows * kOutputs * 2;
  return product;
}

Operation under(const Scheme& scheme) {
  Operation product = plain();
  apply(scheme, product);
  return product;
}

Scheme integer_products(Unit unit, int weight_bits, int activation_bits) {
  return {.weights = integers(weight_bits),
          .activations = integers(activation_bits),
          .unit = unit,
          .scales = ScalePlacement::end,
          .accumulate = gemm::Accumulator::int32};
}

TEST_CASE("a scheme without formats changes nothing") {
  const Operation same = under({});
  CHECK(same.hbm_bytes() == plain().hbm_bytes());
  CHECK(same.vector_ops == 0.0);
  CHECK(same.decoded_weights == 0.0);
  CHECK(same.products == MatrixType::bf16);
  CHECK(under({.unit = Unit::fp16}).products == MatrixType::bf16);
}

TEST_CASE("weights have exactly the bits of their format") {
  StoredFormat apart = integers(3);
  apart.apart = {.largest = 0.01};
  for (const StoredFormat& format :
       {integers(8), integers(4, 16), with_zero_point(integers(4, 16)), apart}) {
    const Operation product = under({.weights = format});
    CHECK(product.weight_bytes * 8.0 ==
          static_cast<double>(stored::stored_bits(format, {32, 64}).total()));
    CHECK(product.read_bytes == plain().read_bytes);
    CHECK(product.written_bytes == plain().written_bytes);
    CHECK(product.decoded_weights == kInputs * kOutputs);
  }
  // Two operations per value apart and row: 1 % of 2048.
  CHECK(under({.weights = apart}).vector_ops == 20 * 2 * kRows);
}

TEST_CASE("dynamic scales take their operations per input and per result") {
  const Operation int8 = under(integer_products(Unit::int8, 8, 8));
  CHECK(int8.products == MatrixType::int8);
  CHECK(int8.vector_ops == kRows * kInputs * (2 + 1 + 4) + kRows * kOutputs * 2);
  CHECK(int8.decoded_weights == 0.0);
  Scheme given = integer_products(Unit::int8, 8, 8);
  given.activations->scale.rule = stored::RangeRule::given;
  CHECK(under(given).vector_ops == int8.vector_ops - kRows * kInputs * 2);
}

TEST_CASE("scales by group multiply and add once per result and group") {
  Scheme groups = integer_products(Unit::int8, 4, 8);
  groups.weights = integers(4, 16);
  groups.scales = ScalePlacement::by_group;
  const double casts = kRows * kInputs * 7;
  CHECK(under(groups).vector_ops == casts + kRows * kOutputs * 2 * (kInputs / 16));
  groups.weights = with_zero_point(integers(4, 16));
  CHECK(under(groups).vector_ops ==
        casts + kRows * kInputs + 2 * kRows * kOutputs * 2 * (kInputs / 16));
  CHECK(group_scaling_ops(10.0, 64.0, 128.0) == 20.0);
}

TEST_CASE("units that apply the scales of a block themselves take no operations per group") {
  StoredFormat mx{.groups = {Along::row, 32}};
  mx.elements = {.kind = stored::ElementKind::minifloat, .bits = 4};
  mx.scale = {.rule = stored::RangeRule::power_of_two_down, .type = numerics::ScaleFormat::e8m0};
  Scheme scheme{
      .weights = mx, .activations = mx, .unit = Unit::fp4, .scales = ScalePlacement::by_group};
  CHECK(under(scheme).vector_ops == kRows * kInputs * (2 + 1 + 7));
  CHECK(under(scheme).products == MatrixType::fp4);
  scheme.weights->groups.length = 16;
  CHECK(under(scheme).vector_ops > kRows * kInputs * (2 + 1 + 7));
}

TEST_CASE("binary products multiply every plane with every plane, in tiles of eight rows") {
  const Operation planes = under(integer_products(Unit::int1, 3, 8));
  CHECK(planes.products == MatrixType::int1);
  CHECK(planes.flops == plain().flops);
  CHECK(planes.unit_ops() == 2 * 8 * kInputs * kOutputs * 3 * 8);
  CHECK(part_of(planes, 5).unit_ops() == planes.unit_ops());  // a row each
  hardware::Chip chip;
  chip.matrix_rate_bf16.value = 1e12;
  chip.matrix_efficiency.value = 0.5;
  chip.vector_rate.value = 1e15;
  chip.hbm_bandwidth.value = 1e15;
  chip.hbm_efficiency.value = 1.0;
  CHECK_THROWS_WITH(roofline(planes, compute_rates(chip)), ContainsSubstring("int1"));
  chip.matrix_rate_int1.value = 1e12;
  CHECK(roofline(planes, compute_rates(chip)).seconds == Approx(planes.unit_ops() / 0.5e12));
  CHECK(under(integer_products(Unit::table, 2, 2)).products == MatrixType::table);
}

TEST_CASE("rotated activations take additions for each step of the rotation") {
  Scheme scheme = integer_products(Unit::int8, 8, 8);
  const double plain_ops = under(scheme).vector_ops;
  scheme.weights->before.hadamard = scheme.activations->before.hadamard = 16;
  CHECK(under(scheme).vector_ops == plain_ops + kRows * kInputs * (4 + 1));
  Scheme weights{.weights = integers(4)};
  weights.weights->before.hadamard = 16;
  CHECK(under(weights).vector_ops == kRows * kInputs * (4 + 1));
}

TEST_CASE("a scheme applies to the matrices of layers, and to stored weights") {
  const Phase phase = Prefill{5, 1};
  const PhaseOperations before = phase_operations(tiny(), phase, 1, {});
  PhaseOperations after = before;
  apply(integer_products(Unit::int8, 8, 8), after);
  CHECK(after.head.back().weight_bytes == before.head.back().weight_bytes);
  double saved = 0.0;
  for (std::size_t i = 0; i < before.layer(testing::kGlobal).size(); ++i) {
    const Operation& operation = after.layer(testing::kGlobal)[i];
    CHECK(operation.flops == before.layer(testing::kGlobal)[i].flops);
    saved += before.layer(testing::kGlobal)[i].weight_bytes - operation.weight_bytes;
    if (operation.kind == OperationKind::matrix)
      CHECK(operation.products == MatrixType::int8);
    else
      CHECK(operation.vector_ops == before.layer(testing::kGlobal)[i].vector_ops);
  }
  CHECK(saved > 0.0);
  CHECK(footprint(tiny(), phase, 1, {}, before).weights -
            footprint(tiny(), phase, 1, {}, after).weights ==
        Approx(tiny().layers * saved));
  PhaseOperations refused = before;
  CHECK_THROWS_WITH(apply({.weights = integers(4, 64)}, refused),
                    ContainsSubstring("qkv: groups of 64 do not divide rows of 8"));
}

}  // namespace
}  // namespace equarx::workloads::scheme_work_test
