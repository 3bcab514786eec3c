// Columns of a report's table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/report/results.hpp"

namespace equarx::report {

/// Kind of a column's values; all but texts are numbers, in base units.
enum class ColumnKind {
  text,
  number,
  time,        ///< s
  bytes,       ///< B
  bandwidth,   ///< B/s
  frequency,   ///< Hz
  operations,  ///< op/s
  ratio,       ///< ratio of two times: "1.8x"
  fraction,    ///< 0 to 1
  decibel,     ///< dB
};

std::string_view name(ColumnKind kind);

/// A column of the report's table, with its cells.
struct ReportColumn {
  std::string key;    ///< unique: "time_s", "breakdown/idle_s", "/tensor/bytes" of an axis
  std::string title;  ///< for people; not escaped for HTML
  ColumnKind kind = ColumnKind::text;
  bool axis = false;
  bool shown = true;  ///< initially; can be changed on the page
  /// One per row: a number, a text, or null.
  std::vector<input::JsonValue> cells = {};
  /// For an axis of quantities: each value as written, "8 MiB"; otherwise empty.
  std::vector<std::string> texts = {};
};

/// Returns a column for each axis and for each number, text or yes/no of the runs, including nested
/// ones; lists (links) are left out.
std::vector<ReportColumn> make_columns(const ReportResults& results);

}  // namespace equarx::report
