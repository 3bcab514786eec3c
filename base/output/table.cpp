#include "base/output/table.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

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

std::vector<std::string> fit_width(std::vector<TableRow>& rows,
                                   const std::vector<std::string>& headings) {
  std::vector<std::string> removed;
  for (const std::string& heading : headings) {
    if (aligned_table(rows).find('\n') <= kTableWidth) break;  // all lines are equally long
    const TableRow& names = rows.front();
    const auto column = std::ranges::find(names, heading) - names.begin();
    if (column == std::ssize(names)) continue;
    for (TableRow& row : rows) row.erase(row.begin() + column);
    removed.push_back(heading);
  }
  return removed;
}

std::string shortened(const std::string& text, std::size_t width) {
  constexpr std::string_view kEllipsis = "...";
  if (text.size() <= width || width <= kEllipsis.size()) return text;
  const auto continues = [&](std::size_t at) {  // within a character of UTF-8
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  const std::size_t kept = width - kEllipsis.size();
  std::size_t head = kept / 2;
  std::size_t tail = text.size() - (kept - head);
  while (head > 0 && continues(head)) --head;
  while (tail < text.size() && continues(tail)) ++tail;
  return fmt::format("{}{}{}", text.substr(0, head), kEllipsis, text.substr(tail));
}

void shorten_names(std::vector<TableRow>& rows) {
  constexpr std::size_t kMinName = 16;
  const std::size_t width = aligned_table(rows).find('\n');  // all lines are equally long
  if (width <= kTableWidth) return;
  std::size_t longest = 0;
  for (const TableRow& row : rows) longest = std::max(longest, row.front().size());
  const std::size_t excess = width - kTableWidth;
  const std::size_t name_width = longest > excess + kMinName ? longest - excess : kMinName;
  for (TableRow& row : rows) row.front() = shortened(row.front(), name_width);
}

std::string range_text(const std::string& low, const std::string& high) {
  const std::size_t space = high.rfind(' ');
  const bool share_unit = space != std::string::npos && low.ends_with(high.substr(space));
  return fmt::format("{} to {}", share_unit ? low.substr(0, low.rfind(' ')) : low, high);
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
