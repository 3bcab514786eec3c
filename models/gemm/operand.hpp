// One operand of a GEMM: elements in units of their scales, by segments of inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/gemm/scheme.hpp"
#include "models/stored/stored_codec.hpp"

namespace equarx::gemm {

/// A matrix in row-major order, with its format; absent: values of the type of the unit.
struct Matrix {
  stored::Shape shape;
  std::span<const float> values;
  std::span<const float> importance = {};  ///< of each element, for formats that need it
};

/// Inputs [begin, end) with the same scales in all rows.
struct Segment {
  std::size_t begin;
  std::size_t end;

  std::size_t size() const { return end - begin; }
  bool operator==(const Segment&) const = default;
};

/// Divides the inputs at the borders of groups of both operands; one segment without them.
std::vector<Segment> segments_of(const Scheme& scheme, std::size_t inputs);

/// Rounds to the type of a unit of floats: FP32, BF16, FP16, E4M3 (`fp8`).
float rounded(float value, Unit unit);

/// Elements of floats: value = element x scale.
struct FloatOperand {
  std::vector<float> elements;  ///< rounded to the type of the unit
  std::vector<float> scales;    ///< of each row and segment; empty: 1
};

/// Elements of integers: value = (code + offset) x scale.
struct CodeOperand {
  std::vector<std::uint8_t> codes;  ///< unsigned, below 2^bits
  std::vector<int> offsets;         ///< of each row and segment
  std::vector<float> scales;        ///< of each row and segment
  int bits = 8;
  int largest = 0;  ///< bound on |code + offset|
};

/// Decodes a matrix for a unit of floats.
FloatOperand float_operand(const Scheme& scheme, const std::optional<stored::StoredFormat>& format,
                           const Matrix& matrix, std::span<const Segment> segments,
                           unsigned threads = 1);

/// Encodes a matrix for a unit of integers.
CodeOperand code_operand(const stored::StoredFormat& format, const Matrix& matrix,
                         std::span<const Segment> segments, unsigned threads = 1);

}  // namespace equarx::gemm
