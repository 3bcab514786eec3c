// The matrix products of a layer in training, with what their precision adds: casts, scales and bytes of operands.
#pragma once

#include <cstdint>
#include <vector>

#include "models/steps/precision.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::steps {

/// One after the other.
using Operations = std::vector<workloads::Operation>;

/// Adds operations behind others.
void append(Operations& operations, const Operations& more);

/// Whether a microbatch finds weights cast already, by an earlier one.
enum class Casts : bool { to_be_made, cached };

/// Casts that the backward pass finds.
struct KeptCasts {
  bool inputs = false;  ///< of activations, by the forward pass
  bool weights =
      false;  ///< by the forward pass; not where they were freed and gathered again, in bf16
  bool backward_weights = false;  ///< by the backward pass of an earlier microbatch
};

/// What becomes of the gradient of a weight.
struct GradientSum {
  enum class How : std::uint8_t { none, by_product, by_pass };
  How how = How::none;
  double made_bytes = 0.0;  ///< of one, as its product writes it if it adds nothing
  double kept_bytes = 0.0;  ///< of one, as it is kept
  double part = 1.0;        ///< of all that are made: what is kept behind "fsdp"'s scatter
};

/// Bytes of one result of a product: bf16, but FP32 of FP32.
double result_bytes(hardware::MatrixType type);

/// A product of activations and weights, and its two backward products, each of as many FLOPs.
///
/// Operands of bf16 lie in HBM as they are; for FP32 they are converted on their way to the matrix unit. Others are cast
/// by passes of their own, which read bf16 and write codes and scales. A pass finds the amax that it needs on its
/// way (`delayed`: that of the next step), but for `current` and `nv`, where one before it does, because it is that of
/// the tensor. A cast serves both passes of a step if its scales do: those of a tensor, and of weights those of
/// `blocks`, which are 128 x 128. Others are of what is summed for a result, which in another product is something
/// else, so they are made for each. Results are scaled by the matrix unit; of `rows` behind it, by two scales each; of
/// `blocks` behind each 128 summed, with an addition (DeepSeek-V3, arXiv 2412.19437, section 3.3.2).
class Products {
 public:
  /// `forward`: of bf16. `copies`: how often a cast that serves both passes is written.
  Products(const workloads::Operation& forward, const ProductTypes& types, double copies);

  /// With the casts before it.
  Operations forward(Casts weights) const;
  /// The gradients of inputs, and of weights, with their casts.
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
  double rows_ = 0.0;     ///< of inputs and results
  double weights_ = 0.0;  ///< elements
  double results_ = 0.0;
  double inputs_ = 0.0;
};

/// Fused attention: scores and values, and their gradients. Scales are of tensors.
class AttentionProducts {
 public:
  /// `forward`: of bf16
  AttentionProducts(const workloads::Operation& forward, const ProductTypes& types);

  Operations forward() const;
  /// `kept`: of queries, keys and values.
  Operations backward(const KeptCasts& kept) const;

 private:
  Operations cast(const char* name, double elements, hardware::MatrixType type) const;

  workloads::Operation forward_;
  ProductTypes types_;
};

}  // namespace equarx::steps
