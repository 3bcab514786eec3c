#include "experiments/output/table.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace equarx::output {

std::string aligned_table(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const TableRow& row : rows) {
    text += fmt::format("  {:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string correlation_table(const std::vector<std::string>& names,
                              const std::vector<double>& correlation) {
  std::vector<TableRow> rows = {{"correlation"}};
  rows.front().insert(rows.front().end(), names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    TableRow& row = rows.emplace_back(TableRow{names[i]});
    for (std::size_t j = 0; j < names.size(); ++j)
      row.push_back(fmt::format("{:.3f}", correlation[i * names.size() + j]));
  }
  return aligned_table(rows);
}

std::string percent_text(double fraction, int digits) {
  const std::string rounded = fmt::format("{:.{}g}", 100.0 * fraction, digits);
  return fmt::format("{} %", std::strtod(rounded.c_str(), nullptr));  // 1.2e+02 is 120
}

}  // namespace equarx::output
