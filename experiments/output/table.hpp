// Tables for people.
#pragma once

#include <string>
#include <vector>

namespace equarx::output {

/// Cells of a line, from left to right.
using TableRow = std::vector<std::string>;

/// Rows of equal length in columns as wide as their widest cell; the first to the left, others to the right.
std::string aligned_table(const std::vector<TableRow>& rows);

/// The matrix of correlations between what has these names: n x n, row-major, of n names.
std::string correlation_table(const std::vector<std::string>& names,
                              const std::vector<double>& correlation);

/// A fraction in per cent, rounded to so many significant digits and without an exponent where it is
/// large: 1.234 with two digits is "120 %".
std::string percent_text(double fraction, int digits);

}  // namespace equarx::output
