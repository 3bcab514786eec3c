#include "tools/keys/pages.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::keys {
namespace {

const std::regex kComment(R"(^<!-- (?:keys of (\w+)|(results of \w+))(?:, in (\S+))? -->$)");

std::optional<TablePlace> place_of(const std::string& line) {
  std::smatch match;
  if (!std::regex_match(line, match, kComment)) return std::nullopt;
  return TablePlace{match[1].matched ? match[1] : match[2], match[3]};
}

std::vector<std::string> lines_of(const std::string& page) {
  std::istringstream stream(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Length of the part of `path` that `prefix` matches; std::nullopt if it is no prefix. A `*` in
/// the prefix matches one key.
std::optional<std::size_t> matched(const std::string& prefix, const std::string& path) {
  std::size_t at = 0;
  for (const char letter : prefix) {
    if (letter == '*') {
      const std::size_t start = at;
      while (at < path.size() && path[at] != '.') ++at;
      if (at == start) return std::nullopt;
    } else if (at == path.size() || path[at++] != letter) {
      return std::nullopt;
    }
  }
  if (prefix.empty()) return 0;
  if (at == path.size() || path[at] != '.') return std::nullopt;
  return at + 1;
}

/// The table of a key: that with the longest path.
const TablePlace* table_of(const std::string& document, const std::string& path,
                           const std::set<TablePlace>& places) {
  const TablePlace* best = nullptr;
  for (const TablePlace& place : places)
    if (place.document == document && matched(place.path, path) &&
        (best == nullptr || *matched(place.path, path) > *matched(best->path, path)))
      best = &place;
  return best;
}

/// The rows of one table, with paths relative to it.
std::vector<KeyRow> rows_of(const TablePlace& place, const std::vector<KeyRow>& rows,
                            const std::set<TablePlace>& places) {
  std::vector<KeyRow> own;
  for (const KeyRow& row : rows) {
    const TablePlace* table = table_of(place.document, row.path, places);
    if (table == nullptr || *table != place) continue;
    const std::string path = row.path.substr(*matched(place.path, row.path));
    if (std::ranges::find(own, path, &KeyRow::path) == own.end())
      own.push_back({path, row.presence, row.unit, row.meaning});
  }
  return own;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

std::string cell(const KeyRow& row, const std::string& column) {
  if (column == "default") return row.presence;
  if (column == "unit") return row.unit;
  return std::regex_replace(row.meaning, std::regex(R"(\|)"), R"(\|)");
}

/// Lines of a table. Adjacent keys with equal cells share a line.
std::vector<std::string> table_lines(const std::vector<KeyRow>& rows,
                                     const std::vector<std::string>& columns) {
  std::vector<std::pair<std::string, std::string>> lines;  // keys, and the other cells
  for (const KeyRow& row : rows) {
    std::string rest;
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const std::string text = cell(row, columns[i]);
      rest += (text.empty() ? "" : " " + text) + " |";
    }
    const std::string key = "`" + row.path + "`";
    if (!lines.empty() && lines.back().second == rest)
      lines.back().first += ", " + key;
    else
      lines.emplace_back(key, rest);
  }
  std::vector<std::string> text;
  for (const auto& [keys, rest] : lines) text.push_back(fmt::format("| {} |{}", keys, rest));
  return text;
}

/// Appends the line below the headings in line `i`, and `rows` as its rows.
/// Returns the last line of the table.
std::size_t replace_rows(const std::vector<std::string>& lines, std::size_t i,
                         const std::vector<std::string>& rows, std::string& text) {
  if (++i == lines.size()) return i;
  text += lines[i] + '\n';
  for (const std::string& row : rows) text += row + '\n';
  while (i + 1 < lines.size() && lines[i + 1].starts_with('|')) ++i;
  return i;
}

}  // namespace

std::vector<TablePlace> table_places(const std::string& page) {
  std::vector<TablePlace> places;
  for (const std::string& line : lines_of(page))
    if (const auto place = place_of(line)) places.push_back(*place);
  return places;
}

std::string with_tables(const std::string& page, const DocumentRows& rows,
                        const std::set<TablePlace>& places) {
  const std::vector<std::string> lines = lines_of(page);
  std::string text;
  std::optional<TablePlace> place;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + '\n';
    if (const auto next = place_of(lines[i]); next && rows.contains(next->document)) place = next;
    if (!place || !lines[i].starts_with('|')) continue;
    const std::vector<KeyRow> own = rows_of(*place, rows.at(place->document), places);
    place.reset();
    if (!own.empty()) i = replace_rows(lines, i, table_lines(own, cells_of(lines[i])), text);
  }
  return text;
}

std::string with_table(const std::string& page, std::string_view comment,
                       const std::vector<std::string>& rows) {
  const std::vector<std::string> lines = lines_of(page);
  std::string text;
  bool is_below = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + '\n';
    is_below = is_below || lines[i] == comment;
    if (is_below && lines[i].starts_with('|')) {
      i = replace_rows(lines, i, rows, text);
      is_below = false;
    }
  }
  return text;
}

std::vector<std::string> missing_keys(const DocumentRows& rows,
                                      const std::set<TablePlace>& places) {
  std::vector<std::string> missing;
  for (const auto& [document, keys] : rows)
    for (const KeyRow& row : keys)
      if (table_of(document, row.path, places) == nullptr)
        missing.push_back(fmt::format("{}: {}", document, row.path));
  return missing;
}

}  // namespace equarx::keys
