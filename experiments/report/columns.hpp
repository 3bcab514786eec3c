// The columns of a report's table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "experiments/report/results.hpp"

namespace equarx::report {

/// What the values of a column are; all but texts are numbers, in base units.
enum class ColumnKind {
  text,
  number,
  time,        ///< s
  bytes,       ///< B
  bandwidth,   ///< B/s
  frequency,   ///< Hz
  operations,  ///< op/s
  ratio,       ///< of two times: "1.8x"
  fraction,    ///< 0 to 1
  decibel,     ///< dB
};

std::string_view name(ColumnKind kind);

/// A column of the report's table, with its cells.
struct ReportColumn {
  std::string key;    ///< unique: "time_s", "breakdown/bubbles_s", "/tensor/bytes" of an axis
  std::string title;  ///< for people; not yet made safe for HTML
  ColumnKind kind = ColumnKind::text;
  bool axis = false;
  bool shown = true;  ///< at first; the others can be switched on
  /// One for each row: a number, a text, or null.
  std::vector<input::JsonValue> cells = {};
  /// Of an axis whose values are quantities: what was written for each, "8 MiB"; otherwise empty.
  std::vector<std::string> texts = {};
};

/// One column for each axis and for each number, text or yes/no of the runs, nested ones included;
/// lists (links) are left out.
std::vector<ReportColumn> make_columns(const ReportResults& results);

}  // namespace equarx::report
