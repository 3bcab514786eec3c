// Rows of the tables of keys in docs/.
#pragma once

#include <string>
#include <vector>

#include "base/input/object_reader.hpp"

namespace equarx::keys {

/// One key, as the pages show it.
struct KeyRow {
  std::string path;      ///< like "tensor.values.seed" and "faults.links[].between"
  std::string presence;  ///< "required", or the default, in Markdown
  std::string unit;
  std::string meaning;  ///< in Markdown
};

/// All keys of a document with definitions and annotations, in its order. The keys of a shared
/// definition are listed at its first use. An object without a meaning has no row of its own.
std::vector<KeyRow> key_rows(const input::Json& document);

}  // namespace equarx::keys
