// CSV output.
#pragma once

#include <string>
#include <vector>

namespace equarx::output {

/// Unquoted fields.
using CsvRow = std::vector<std::string>;

/// Rows as CSV (RFC 4180, lines end in a line feed).
std::string csv(const std::vector<CsvRow>& rows);

}  // namespace equarx::output
