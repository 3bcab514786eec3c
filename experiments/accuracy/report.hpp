// Accuracy as a table, as JSON, and as a page of the documentation.
#pragma once

#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/accuracy/rows.hpp"

namespace equarx::accuracy {

/// Table of the classes of questions; with `rows_too`, also of all rows.
std::string to_table(const std::vector<MeasuredRow>& rows, bool rows_too);

/// Classes and rows for programs.
input::Json report_json(const std::vector<MeasuredRow>& rows);

/// docs/accuracy.md.
std::string to_page(const std::vector<MeasuredRow>& rows);

/// Sentence on the discrepancy of a question, for notes below tables: "training steps in bf16: 11
/// measured rows of 3 origins, 18 %", or that it is unknown.
std::string discrepancy_text(const std::vector<MeasuredRow>& rows, Question question);

}  // namespace equarx::accuracy
