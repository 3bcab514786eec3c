#include "models/workloads/scheme_work.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "models/workloads/cast_work.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

using gemm::ScalePlacement;
using gemm::Scheme;
using gemm::Unit;
using hardware::MatrixType;
using stored::Along;
using stored::StoredFormat;

constexpr double kBitsPerByte = 8.0;
constexpr double kScaleAndAdd = kMultiply + kAdd;

bool has_zero_point(const std::optional<StoredFormat>& format) {
  return format && format->scale.zero_point != stored::ZeroPoint::none;
}

/// True for a scale per row. A scale of the tensor is a factor of the unit.
bool has_row_scales(const std::optional<StoredFormat>& format) {
  return format && format->groups.along == Along::row;
}

/// Inputs of a row that share a scale of an operand.
double inputs_per_scale(const std::optional<StoredFormat>& format, double inputs) {
  if (!format || format->groups.along == Along::tensor || format->groups.length == 0) return inputs;
  return std::min(static_cast<double>(format->groups.length), inputs);
}

/// True for scales that a matrix unit applies itself: E8M0 per 32 int8, FP8 or FP4 elements (OCP
/// MX), E4M3 per 16 FP4 elements (NVFP4).
bool is_scaled_by_unit(const std::optional<StoredFormat>& format, Unit unit) {
  constexpr std::size_t kMxBlock = 32;
  constexpr std::size_t kNvBlock = 16;
  if (!format || format->groups.along != Along::row) return false;
  const numerics::ScaleFormat type = format->scale.type;
  const std::size_t length = format->groups.length;
  const bool mx = type == numerics::ScaleFormat::e8m0 && length == kMxBlock;
  const bool nv = type == numerics::ScaleFormat::e4m3 && length == kNvBlock && unit == Unit::fp4;
  return (unit == Unit::int8 || unit == Unit::fp8 || unit == Unit::fp4) && (mx || nv);
}

/// Operations per activation that rotate or multiply it. Rotations of weights alone are also made
/// there: they are orthonormal.
double transform_ops(const Scheme& scheme) {
  std::size_t rotated = scheme.weights ? scheme.weights->before.hadamard : 0;
  bool multiplied = false;
  if (scheme.activations) {
    rotated = std::max(rotated, scheme.activations->before.hadamard);
    multiplied = !scheme.activations->before.column_factors.empty();
  }
  const double rotation =
      rotated > 0 ? kMultiply + kAdd * std::log2(static_cast<double>(rotated)) : 0.0;
  return rotation + (multiplied ? kMultiply : 0.0);
}

/// Casts of activations within the operation that reads them.
void add_casts(const Scheme& scheme, Operation& product) {
  const double elements = product.gemm.rows * product.gemm.inputs;
  product.vector_ops += elements * transform_ops(scheme);
  if (!scheme.activations) return;
  const CastWork work = cast_work(*scheme.activations, product.gemm.inputs);
  product.vector_ops += elements * (work.pass_ops + work.vector_ops);
  product.comparisons += elements * work.comparisons;
  if (work.pass_ops > 0.0) product.read_bytes *= 2.0;
  if (scheme.scales == ScalePlacement::before)
    product.vector_ops +=
        elements * (decode_ops(scheme.activations->elements) + kMultiply + kToBf16);
  else if (has_zero_point(scheme.weights))
    product.vector_ops += elements * kAdd;  // sums of the codes
}

/// Bytes of weights, and the sparse product of weights apart.
void add_weights(const StoredFormat& format, Operation& product) {
  const GemmShape& gemm = product.gemm;
  const stored::Shape shape{static_cast<std::size_t>(std::llround(gemm.outputs)),
                            static_cast<std::size_t>(std::llround(gemm.inputs))};
  product.weight_bytes = gemm.matrices *
                         static_cast<double>(stored::stored_bits(format, shape).total()) /
                         kBitsPerByte;
  const std::size_t apart =
      stored::largest_count(format, shape) + stored::important_count(format, shape);
  product.vector_ops += gemm.rows * kScaleAndAdd * static_cast<double>(apart);
}

/// Binary products of every plane of one operand with every plane of the other.
void add_planes(const Scheme& scheme, Operation& product) {
  constexpr double kTile = 8.0;  // rows of a binary tensor core (NVIDIA PTX ISA, mma.m8n8k128)
  product.passes = scheme.weights.value().elements.bits * scheme.activations.value().elements.bits;
  product.row_tile = kTile;
}

/// @throws std::invalid_argument with the name of the operation
void apply_named(const Scheme& scheme, Operation& product) {
  try {
    apply(scheme, product);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", product.name, error.what()));
  }
}

}  // namespace

MatrixType products_of(Unit unit) {
  switch (unit) {
    case Unit::fp32: return MatrixType::fp32;
    case Unit::bf16:
    case Unit::fp16: return MatrixType::bf16;
    case Unit::int8: return MatrixType::int8;
    case Unit::fp8: return MatrixType::fp8;
    case Unit::fp4: return MatrixType::fp4;
    case Unit::int1: return MatrixType::int1;
    case Unit::table: return MatrixType::table;
  }
  throw std::logic_error("unknown unit");
}

double group_scaling_ops(double results, double summed, double group) {
  return results * kScaleAndAdd * std::max(1.0, summed / group);
}

double result_ops(const Scheme& scheme, const GemmShape& shape) {
  if (scheme.scales == ScalePlacement::before) return 0.0;
  const double results = shape.rows * shape.outputs;
  const bool by_unit = is_scaled_by_unit(scheme.weights, scheme.unit) &&
                       is_scaled_by_unit(scheme.activations, scheme.unit);
  const double group = std::min(inputs_per_scale(scheme.weights, shape.inputs),
                                inputs_per_scale(scheme.activations, shape.inputs));
  const double corrected = (has_zero_point(scheme.weights) ? 1.0 : 0.0) +
                           (has_zero_point(scheme.activations) ? 1.0 : 0.0);
  const double corrections = corrected * group_scaling_ops(results, shape.inputs, group);
  if (scheme.scales == ScalePlacement::by_group)
    return corrections + (by_unit ? 0.0 : group_scaling_ops(results, shape.inputs, group));
  const double scales = (has_row_scales(scheme.weights) ? 1.0 : 0.0) +
                        (has_row_scales(scheme.activations) ? 1.0 : 0.0);
  return corrections + results * scales * kMultiply;
}

void apply(const Scheme& scheme, Operation& product) {
  product.products = products_of(scheme.unit);
  if (scheme.unit == Unit::int1) add_planes(scheme, product);
  if (scheme.weights) add_weights(*scheme.weights, product);
  if (scheme.weights && scheme.scales == ScalePlacement::before)
    product.decoded_weights = product.gemm.inputs * product.gemm.outputs * product.gemm.matrices;
  add_casts(scheme, product);
  product.vector_ops += result_ops(scheme, product.gemm);
}

void apply(const Scheme& scheme, std::vector<Operation>& layer) {
  for (Operation& operation : layer)
    if (operation.kind == OperationKind::matrix && operation.name != kRouter)
      apply_named(scheme, operation);
}

void apply(const Scheme& scheme, PhaseOperations& operations) {
  for (LayerOperations& layer : operations.layers) apply(scheme, layer.operations);
}

}  // namespace equarx::workloads
