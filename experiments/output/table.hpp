// Tables for people.
#pragma once

#include <string>
#include <vector>

namespace equarx::output {

/// Cells of a line, from left to right.
using TableRow = std::vector<std::string>;

/// Rows of equal length in columns as wide as their widest cell; the first to the left, others to the right.
std::string aligned_table(const std::vector<TableRow>& rows);

}  // namespace equarx::output
