#include "models/gemm/code_gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "base/os/parallel_for.hpp"
#include "models/gemm/code_sums.hpp"

namespace equarx::gemm {
namespace {

/// One segment of a code operand in the form that a unit multiplies.
struct UnitOperand {
  std::vector<std::int16_t> values;  ///< int8: code + offset
  std::vector<std::uint8_t> codes;   ///< of the segment
  std::optional<BitPlanes> planes;   ///< int1
  std::vector<std::int64_t> sums;    ///< of the codes of each row
};

UnitOperand unit_operand(const CodeOperand& operand, Unit unit, std::size_t inputs,
                         const std::vector<Segment>& segments, std::size_t s) {
  const Segment segment = segments[s];
  const std::size_t rows = operand.codes.size() / inputs;
  UnitOperand result;
  for (std::size_t row = 0; row < rows; ++row) {
    std::int64_t sum = 0;
    for (std::size_t k = segment.begin; k < segment.end; ++k) {
      const std::uint8_t code = operand.codes[row * inputs + k];
      result.codes.push_back(code);
      sum += code;
      if (unit == Unit::int8)
        result.values.push_back(
            static_cast<std::int16_t>(code + operand.offsets[row * segments.size() + s]));
    }
    result.sums.push_back(sum);
  }
  if (unit == Unit::int1) result.planes.emplace(result.codes, segment.size(), operand.bits);
  return result;
}

/// A GEMM on a unit of integers.
class CodeGemm {
 public:
  CodeGemm(const Scheme& scheme, const Matrix& x, const Matrix& w, unsigned threads)
      : inputs_(x.shape.columns),
        outputs_(w.shape.rows),
        rows_(x.shape.rows),
        threads_(threads),
        unit_(scheme.unit),
        segments_(segments_of(scheme, inputs_)),
        x_(code_operand(*scheme.activations, x, segments_, threads)),
        w_(code_operand(*scheme.weights, w, segments_, threads)),
        table_(unit_ == Unit::table ? x_.bits : 0, unit_ == Unit::table ? w_.bits : 0) {
    check_sums();
  }

  std::vector<float> result() const {
    std::vector<float> result(rows_ * outputs_);
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const UnitOperand x = unit_operand(x_, unit_, inputs_, segments_, s);
      const UnitOperand w = unit_operand(w_, unit_, inputs_, segments_, s);
      os::parallel_for(rows_, threads_, [&](std::size_t row, unsigned) {
        for (std::size_t n = 0; n < outputs_; ++n) {
          const float scale =
              x_.scales[row * segments_.size() + s] * w_.scales[n * segments_.size() + s];
          const float scaled = static_cast<float>(sum(x, row, w, n, s)) * scale;
          float& total = result[row * outputs_ + n];
          total = s == 0 ? scaled : total + scaled;
        }
      });
    }
    return result;
  }

 private:
  void check_sums() const {
    const std::int64_t each = std::int64_t{x_.largest} * w_.largest;
    std::size_t most = 0;
    for (const Segment& segment : segments_) most = std::max(most, segment.size());
    if (each * static_cast<std::int64_t>(most) > std::numeric_limits<std::int32_t>::max())
      throw std::invalid_argument("sums of " + std::to_string(most) + " products of up to " +
                                  std::to_string(each) +
                                  " may exceed int32; use groups along the rows");
  }

  /// Sum of products of (code + offset): unsigned codes, and terms of the offsets.
  std::int32_t sum(const UnitOperand& x, std::size_t row, const UnitOperand& w, std::size_t output,
                   std::size_t s) const {
    const std::size_t size = segments_[s].size();
    if (unit_ == Unit::int8)
      return sum_of_values(std::span(x.values).subspan(row * size, size),
                           std::span(w.values).subspan(output * size, size));
    const std::int64_t codes = unit_ == Unit::int1
                                   ? sum_of_planes(*x.planes, row, *w.planes, output)
                                   : table_.sum(std::span(x.codes).subspan(row * size, size),
                                                std::span(w.codes).subspan(output * size, size));
    const std::int64_t x_offset = x_.offsets[row * segments_.size() + s];
    const std::int64_t w_offset = w_.offsets[output * segments_.size() + s];
    return static_cast<std::int32_t>(codes + x_offset * w.sums[output] + w_offset * x.sums[row] +
                                     static_cast<std::int64_t>(size) * x_offset * w_offset);
  }

  std::size_t inputs_;
  std::size_t outputs_;
  std::size_t rows_;
  unsigned threads_;
  Unit unit_;
  std::vector<Segment> segments_;
  CodeOperand x_;
  CodeOperand w_;
  ProductTable table_;
};

}  // namespace

std::vector<float> code_matmul(const Scheme& scheme, const Matrix& x, const Matrix& w,
                               unsigned threads) {
  return CodeGemm(scheme, x, w, threads).result();
}

}  // namespace equarx::gemm
