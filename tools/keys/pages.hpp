// Tables of keys in Markdown pages, below comments like "<!-- keys of step, in step.training -->"
// and "<!-- results of run, in runs[] -->".
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/keys/rows.hpp"

namespace equarx::keys {

/// Rows of all documents, by the document's name: "step", "results of run".
using DocumentRows = std::map<std::string, std::vector<KeyRow>>;

/// A comment above a table: a document and a path in it, which may contain `*` for any key.
struct TablePlace {
  std::string document;
  std::string path;

  auto operator<=>(const TablePlace&) const = default;
};

/// All tables of a page.
std::vector<TablePlace> table_places(const std::string& page);

/// The page with the rows of its tables replaced; the headings determine the columns. A key is in
/// the table with the longest path to it among `places`, all tables of all pages. Documents and
/// tables without rows are left alone.
std::string with_tables(const std::string& page, const DocumentRows& rows,
                        const std::set<TablePlace>& places);

/// The page with the rows of the table below a comment replaced.
std::string with_table(const std::string& page, std::string_view comment,
                       const std::vector<std::string>& rows);

/// Keys that belong to no table.
std::vector<std::string> missing_keys(const DocumentRows& rows, const std::set<TablePlace>& places);

}  // namespace equarx::keys
