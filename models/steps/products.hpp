// GEMMs of a layer in training, including the overhead of their precision: casts, scales and
// operand bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/steps/precision.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::steps {

/// Operations that run one after the other.
using Operations = std::vector<workloads::Operation>;

/// State of the weight casts at the start of a microbatch: cached if an earlier one made them.
enum class Casts : bool { uncached, cached };

/// Casts available to the backward pass.
struct KeptCasts {
  bool inputs = false;  ///< casts of activations made by the forward pass
  /// Casts made by the forward pass; lost if weights were freed and gathered again in bf16.
  bool weights = false;
  bool backward_weights = false;  ///< casts made by the backward pass of an earlier microbatch
};

/// Accumulation of weight gradients over microbatches.
struct GradientSum {
  enum class How : std::uint8_t { none, by_product, by_pass };
  How how = How::none;
  double written_bytes = 0.0;  ///< bytes per gradient written by its GEMM without accumulation
  double stored_bytes = 0.0;   ///< bytes per accumulated gradient
  double share = 1.0;  ///< share of the gradients kept on this chip after the "fsdp" scatter
};

/// Bytes per result element of a GEMM: FP32 for FP32, otherwise bf16.
double result_bytes(hardware::MatrixType type);

/// A GEMM of activations and weights, and its two backward GEMMs, each with the same FLOPs.
///
/// bf16 operands are read from HBM unchanged; for FP32 they are converted on the way to the matrix
/// unit. Operands of other types are cast by separate passes, which read bf16 and write codes and
/// scales. A pass computes the amax it needs on the fly (`delayed`: the amax for the next step),
/// except for `current` and `nv`, which need the amax of the whole tensor and therefore a pass
/// before it.
///
/// A cast serves both passes of a step if its scales do: per-tensor scales, and 128 x 128 `blocks`
/// of weights. Other scales belong to the elements summed for one result, which differ between
/// GEMMs, so each GEMM has its own cast. The matrix unit scales the results, except for `rows` (two
/// multiplications per result) and `blocks` (a multiplication and an addition after every 128
/// summed elements; DeepSeek-V3, arXiv 2412.19437, section 3.3.2).
class Products {
 public:
  /// @param forward  the bf16 GEMM
  /// @param copies  how often a cast that serves both passes is written
  Products(const workloads::Operation& forward, const ProductTypes& types, double copies);

  /// Forward GEMM, preceded by its casts.
  Operations forward(Casts weights) const;
  /// Gradients of inputs and weights, preceded by their casts.
  Operations backward(const KeptCasts& kept, const GradientSum& sum) const;

 private:
  Operations casts_backward(const KeptCasts& kept) const;
  Operations cast(const char* name, double elements, hardware::MatrixType type,
                  bool of_weights) const;
  double operand_bytes(hardware::MatrixType type, double plain_bytes, bool of_weights) const;
  double scaling_ops(hardware::MatrixType type, double results, double summed) const;

  workloads::Operation forward_;
  ProductTypes types_;
  double copies_;
  double rows_ = 0.0;     ///< rows of inputs and results, of each matrix of a grouped GEMM
  double width_ = 0.0;    ///< elements of a row of inputs
  double weights_ = 0.0;  ///< elements
  double results_ = 0.0;
  double inputs_ = 0.0;
};

/// Fused attention: scores and values, and their gradients. Scaling is per tensor.
class AttentionProducts {
 public:
  /// @param forward  the bf16 operation
  AttentionProducts(const workloads::Operation& forward, const ProductTypes& types);

  Operations forward() const;
  /// @param kept  casts of queries, keys and values
  Operations backward(const KeptCasts& kept) const;

 private:
  Operations cast(const char* name, double elements, hardware::MatrixType type) const;

  workloads::Operation forward_;
  ProductTypes types_;
};

}  // namespace equarx::steps
