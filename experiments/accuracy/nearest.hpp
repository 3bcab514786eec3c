// The measured rows closest to a simulated figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/accuracy/rows.hpp"

namespace equarx::accuracy {

/// A question about a machine, and about a tensor if a collective is asked for.
struct Asked {
  Question question = Question::tpu_collective;
  std::string chip;         ///< name of the built-in chip, as in a row
  std::uint32_t chips = 0;  ///< 0: any
  std::uint64_t bytes = 0;  ///< of the tensor; 0: any, as for steps
};

/// Rows of the question that say which machine they were measured on: those of the same chip first,
/// then by |ln(bytes / asked bytes)| + |ln(chips / asked chips)|. At most `most`.
std::vector<const MeasuredRow*> nearest(const std::vector<MeasuredRow>& rows, const Asked& asked,
                                        std::size_t most);

/// Rows with their ratios simulated / measured, a line each, for notes below tables; empty without
/// rows.
std::string nearest_text(const std::vector<const MeasuredRow*>& rows);

/// Evidence for a figure: `question`, `spread`, `rows`, `origins` (null, 0 and 0 if unknown) and the
/// `nearest` rows.
input::Json evidence_json(const std::vector<MeasuredRow>& rows, const Asked& asked);

}  // namespace equarx::accuracy
