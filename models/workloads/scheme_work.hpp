// Work of GEMMs under a scheme (docs/gemm.md, "Time").
#pragma once

#include <vector>

#include "models/gemm/scheme.hpp"
#include "models/workloads/operations.hpp"

namespace equarx::workloads {

/// Type of the products of a unit. FP16 has the rate of bf16.
hardware::MatrixType products_of(gemm::Unit unit);

/// Vector operations to scale and add the sums of groups of `group` products: `results` of `summed`
/// products each.
double group_scaling_ops(double results, double summed, double group);

/// Vector operations to scale the sums of a GEMM, with corrections for codes with a zero point.
double result_ops(const gemm::Scheme& scheme, const GemmShape& shape);

/// Applies a scheme to a GEMM with the shape `gemm`. Formats that are absent change nothing.
/// @throws std::invalid_argument for groups that do not divide the weights, and activations that
/// cast_work() refuses
void apply(const gemm::Scheme& scheme, Operation& product);

/// Applies a scheme to the weight matrices of a layer, but not to the router.
/// @throws std::invalid_argument as above, with the name of the operation
void apply(const gemm::Scheme& scheme, std::vector<Operation>& layer);

/// Applies a scheme to the weight matrices of all layers; vocabulary tables are unchanged.
/// @throws std::invalid_argument as above, with the name of the operation
void apply(const gemm::Scheme& scheme, PhaseOperations& operations);

}  // namespace equarx::workloads
