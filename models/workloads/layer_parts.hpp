// Operations that layers are made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/workloads/operation.hpp"
#include "models/workloads/tensor_parallel.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::workloads {

/// Location of the residual stream between operations. It is as large as the data of an AllReduce.
enum class ResidualPlace : std::uint8_t {
  hbm,   ///< read and written by each operation
  vmem,  ///< resident in VMEM, without HBM traffic
};

/// Parameters shared by all operations of a layer. The model must outlive it.
struct LayerContext {
  const Transformer& model;
  Shard shard;
  ResidualPlace residual = ResidualPlace::hbm;
  double rows = 0.0;  ///< positions

  /// Elements of the residual stream.
  double width() const { return rows * model.d_model; }
  /// Bytes of a residual stream that passes through HBM.
  double residual_bytes() const {
    return residual == ResidualPlace::vmem ? 0.0 : width() * kActivationBytes;
  }
  /// Vector operations to normalize a residual stream whose statistics are known.
  double norm_ops() const;
};

/// GEMM of activations with weights, in one or several matrices.
Operation matrix(std::string_view name, const GemmShape& shape, WeightType weights);

/// GEMM of the residual stream with a weight matrix. With pre-norms the input is normalized as it is
/// read, since its statistics are already known.
Operation input_matrix(std::string_view name, const LayerContext& context, double outputs);

/// Element-wise operation: `ops` per element of a result, computed from `operands` arrays of the
/// same size.
Operation elementwise(std::string_view name, double elements, double operands, double ops);

/// Matrices of a feed-forward network that lead to its inner width: gate and up, or up alone.
double inner_matrices(const Transformer& model);

/// Activation function, and product with the gate, of `elements` elements of the inner width.
Operation activation(std::string_view name, const Transformer& model, double elements);

}  // namespace equarx::workloads
