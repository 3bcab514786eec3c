// A GEMM of quantized operands, Y = X W^T: plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/stored/stored_format.hpp"

namespace equarx::gemm {

/// Operand type of the unit that multiplies.
enum class Unit : std::uint8_t {
  fp32,
  bf16,
  fp16,
  int8,
  fp8,   ///< E4M3 or E5M2
  fp4,   ///< E2M1
  int1,  ///< binary products of bit planes (ABQ-LLM, arXiv 2408.08554)
  table  ///< look-ups of products of two codes (DeepGEMM, arXiv 2304.09049)
};

/// Place where the scales of the operands are applied.
enum class ScalePlacement : std::uint8_t {
  before,    ///< operands are decoded and rounded to the type of the unit
  by_group,  ///< to the sum of each group, which is then added in FP32 (MixPE, arXiv 2411.16158)
  end        ///< to results: one scale per row of each operand
};

/// Type of the sums of a group of products.
enum class Accumulator : std::uint8_t { fp32, fp16, bf16, int32 };

/// Formats of the operands and arithmetic of a GEMM. X has a row per token and W one per output;
/// both have a column per input.
struct Scheme {
  std::string source = {};
  std::optional<stored::StoredFormat> weights = {};      ///< absent: of the type of the unit
  std::optional<stored::StoredFormat> activations = {};  ///< absent: of the type of the unit
  Unit unit = Unit::bf16;
  ScalePlacement scales = ScalePlacement::before;
  Accumulator accumulate = Accumulator::fp32;

  bool operator==(const Scheme&) const = default;
};

/// True for units that multiply integer codes exactly: int8, int1, table.
bool multiplies_codes(Unit unit);

/// Checks the parts of a scheme against each other.
/// @{
/// @throws std::invalid_argument for an accumulator that the unit lacks
void check_accumulator(const Scheme& scheme);
/// @throws std::invalid_argument for scales that a format cannot apply there
void check_scaling(const Scheme& scheme);
/// @throws std::invalid_argument for elements of one operand that the unit does not multiply.
/// `operand`: "weights" or "activations"
void check_operand(const Scheme& scheme, const std::optional<stored::StoredFormat>& format,
                   const std::string& operand);
/// @}

/// Checks all parts.
void check(const Scheme& scheme);

}  // namespace equarx::gemm
