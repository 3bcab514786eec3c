// Text tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace equarx::output {

/// Cells of a row, from left to right.
using TableRow = std::vector<std::string>;

/// Aligns rows of equal length; the first column to the left, the others to the right.
std::string aligned_table(const std::vector<TableRow>& rows);

/// Largest width of a line of a table in a command's default output.
inline constexpr std::size_t kTableWidth = 120;

/// Removes the columns with these headings, in this order, until no line of aligned_table(rows) has more
/// than kTableWidth characters. Returns the headings of the removed columns.
std::vector<std::string> fit_width(std::vector<TableRow>& rows,
                                   const std::vector<std::string>& headings);

/// Replaces the middle of a text of more than `width` bytes by "...".
std::string shortened(const std::string& text, std::size_t width);

/// Shortens long names in the first column, to no less than 16 bytes, so that lines of
/// aligned_table(rows) have at most kTableWidth characters.
void shorten_names(std::vector<TableRow>& rows);

/// Joins the texts of two quantities: "671.2 to 677.9 us", or "998.1 us to 1.002 ms".
std::string range_text(const std::string& low, const std::string& high);

/// Correlation matrix of n parameters: n x n, row-major.
std::string correlation_table(const std::vector<std::string>& names,
                              const std::vector<double>& correlation);

/// A fraction as a percentage, rounded to `digits` significant digits, without an exponent: 1.234
/// with two digits is "120 %".
std::string percent_text(double fraction, int digits);

}  // namespace equarx::output
