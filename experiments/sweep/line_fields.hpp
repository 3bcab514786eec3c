// Fields of the lines of a sweep's results as texts, read without building JSON trees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"

namespace equarx::sweep {

/// A named text of a table.
struct Field {
  std::string path;  ///< names of nested objects, joined by '/'
  std::string text;  ///< strings as they are, other values as JSON

  bool operator==(const Field&) const = default;
};

/// Text of a value in a table.
std::string field_text(const input::Json& value);

/// Returns the numbers, texts and flags of the `run` of a line, in its order: without lists, and values that
/// are null. Reads the line up to the end of the run.
/// @throws input::InputError if that is not JSON
std::vector<Field> run_of_line(std::string_view line);

/// Returns a member of a line that is no object or list. @throws input::InputError if there is none
Field member_of_line(std::string_view line, std::string_view name);

}  // namespace equarx::sweep
