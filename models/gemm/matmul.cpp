#include "models/gemm/matmul.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/os/parallel_for.hpp"
#include "models/gemm/code_gemm.hpp"
#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"

namespace equarx::gemm {
namespace {

constexpr std::size_t kPanel = 64;  ///< outputs computed together

/// Scale of a row and segment.
float scale_at(const std::vector<float>& scales, std::size_t index) {
  return scales.empty() ? 1.0F : scales[index];
}

struct Fp32Sum {
  static float rounded(float value) { return value; }
};
struct Fp16Sum {
  static float rounded(float value) { return numerics::round_to_fp16(value); }
};
struct Bf16Sum {
  static float rounded(float value) {
    return numerics::float_from_bf16(numerics::bf16_from_float(value));
  }
};

/// Rows of W transposed: element (input, output) of `kPanel` outputs, 0 beyond the last one.
template <typename Number>
std::vector<Number> panel_of(std::span<const float> elements, std::size_t inputs, std::size_t first,
                             std::size_t count) {
  std::vector<Number> panel(inputs * kPanel);
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t k = 0; k < inputs; ++k)
      panel[k * kPanel + n] = Number{elements[(first + n) * inputs + k]};
  return panel;
}

/// Sums of one row of X with all outputs of a panel.
template <typename Sum, typename Number>
std::array<Number, kPanel> panel_sums(std::span<const float> x, const Number* panel) {
  std::array<Number, kPanel> sums{};
  for (const float value : x) {
    for (std::size_t n = 0; n < kPanel; ++n) {
      if constexpr (std::is_same_v<Number, float>)
        sums[n] = Sum::rounded(sums[n] + value * panel[n]);
      else
        sums[n] += Number{value} * panel[n];
    }
    panel += kPanel;
  }
  return sums;
}

/// A GEMM on a unit of floats.
class FloatGemm {
 public:
  FloatGemm(const Scheme& scheme, const Matrix& x, const Matrix& w, unsigned threads)
      : inputs_(x.shape.columns),
        outputs_(w.shape.rows),
        rows_(x.shape.rows),
        threads_(threads),
        segments_(segments_of(scheme, inputs_)),
        accumulator_(scheme.accumulate),
        x_(float_operand(scheme, scheme.activations, x, segments_, threads)),
        w_(float_operand(scheme, scheme.weights, w, segments_, threads)) {}

  std::vector<float> result() const {
    std::vector<float> result(rows_ * outputs_);
    os::parallel_for((outputs_ + kPanel - 1) / kPanel, threads_, [&](std::size_t panel, unsigned) {
      switch (accumulator_) {
        case Accumulator::fp16: return add_panel<Fp16Sum>(panel * kPanel, result);
        case Accumulator::bf16: return add_panel<Bf16Sum>(panel * kPanel, result);
        case Accumulator::fp32:
        case Accumulator::int32: break;
      }
      add_panel<Fp32Sum>(panel * kPanel, result);
    });
    return result;
  }

 private:
  template <typename Sum>
  void add_panel(std::size_t first, std::vector<float>& result) const {
    const std::size_t count = std::min(kPanel, outputs_ - first);
    const std::vector<float> panel = panel_of<float>(w_.elements, inputs_, first, count);
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t s = 0; s < segments_.size(); ++s) {
        const Segment segment = segments_[s];
        const std::span x =
            std::span(x_.elements).subspan(row * inputs_ + segment.begin, segment.size());
        const auto sums = panel_sums<Sum, float>(x, &panel[segment.begin * kPanel]);
        const float x_scale = scale_at(x_.scales, row * segments_.size() + s);
        for (std::size_t n = 0; n < count; ++n) {
          const float w_scale = scale_at(w_.scales, (first + n) * segments_.size() + s);
          float& sum = result[row * outputs_ + first + n];
          const float scaled = sums[n] * (x_scale * w_scale);
          sum = s == 0 ? scaled : sum + scaled;
        }
      }
  }

  std::size_t inputs_;
  std::size_t outputs_;
  std::size_t rows_;
  unsigned threads_;
  std::vector<Segment> segments_;
  Accumulator accumulator_;
  FloatOperand x_;
  FloatOperand w_;
};

void check_finite(const Matrix& matrix, const std::string& operand) {
  const auto found =
      std::ranges::find_if(matrix.values, [](float value) { return !std::isfinite(value); });
  if (found == matrix.values.end()) return;
  throw std::invalid_argument(operand + " have NaN or Inf at element " +
                              std::to_string(found - matrix.values.begin()) +
                              "; quantization needs finite values");
}

void check_operands(const Matrix& x, const Matrix& w) {
  check_finite(x, "activations");
  check_finite(w, "weights");
  if (x.shape.columns != w.shape.columns)
    throw std::invalid_argument("activations have " + std::to_string(x.shape.columns) +
                                " columns and weights " + std::to_string(w.shape.columns) +
                                "; both need one per input");
}

}  // namespace

std::vector<float> matmul(const Scheme& scheme, const Matrix& x, const Matrix& w,
                          unsigned threads) {
  check(scheme);
  check_operands(x, w);
  if (!w.importance.empty() && !(scheme.weights && stored::needs_importance(*scheme.weights)))
    throw std::invalid_argument("the weights do not depend on their importance; remove it");
  if (multiplies_codes(scheme.unit)) return code_matmul(scheme, x, w, threads);
  return FloatGemm(scheme, x, w, threads).result();
}

std::vector<double> exact_matmul(const Matrix& x, const Matrix& w, unsigned threads) {
  check_operands(x, w);
  const std::size_t inputs = x.shape.columns;
  const std::size_t outputs = w.shape.rows;
  std::vector<double> result(x.shape.rows * outputs);
  os::parallel_for((outputs + kPanel - 1) / kPanel, threads, [&](std::size_t index, unsigned) {
    const std::size_t first = index * kPanel;
    const std::size_t count = std::min(kPanel, outputs - first);
    const std::vector<double> panel = panel_of<double>(w.values, inputs, first, count);
    for (std::size_t row = 0; row < x.shape.rows; ++row) {
      const auto sums =
          panel_sums<Fp32Sum, double>(x.values.subspan(row * inputs, inputs), panel.data());
      std::copy_n(sums.begin(), count,
                  result.begin() + static_cast<std::ptrdiff_t>(row * outputs + first));
    }
  });
  return result;
}

}  // namespace equarx::gemm
