// Every value that ranks compute on the way from their inputs to the result.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::values {

/// Kind of recorded values.
enum class StepKind : std::uint8_t {
  cast,      ///< the input in the type of the program
  sum,       ///< the accumulator after an addition
  residual,  ///< the accumulator after the addition of the residual
  rounded,   ///< the accumulator, rounded to the wire format
  scales,    ///< scales of a minishard, as readers decode them
  encoded,   ///< a message, as readers decode it
  decoded,   ///< a message in place of the rank's own values
};

std::string_view name(StepKind kind);

/// Values of a part of the tensor after an instruction.
struct RecordedStep {
  StepKind kind = StepKind::sum;
  collectives::InstructionId instruction = 0;
  std::vector<collectives::Rank> ranks;  ///< that compute these bits
  collectives::Range range;              ///< elements of the tensor, without padding
  /// Elements with common scales, including padding; for encoded values and scales.
  collectives::Range minishard;
  std::vector<collectives::Rank> terms;  ///< ranks whose inputs are in the values
  std::vector<float> values;             ///< by element; by scale group for scales
};

/// A part of the result of a rank.
struct ResultPart {
  collectives::Range range;  ///< elements of the tensor, without padding
  std::vector<float> values;
};

/// Values of a collective that sums, by instruction and rank.
struct ValueRecord {
  /// In the order of the program, then of ranks and elements.
  std::vector<RecordedStep> steps;
  std::vector<std::vector<ResultPart>> results;  ///< by rank, in the order of the tensor
  std::vector<double> exact;                     ///< by element

  /// Sorts the parts, which units append.
  void sort();
};

}  // namespace equarx::values
