// Input files of the program whose keys are declared in tables of fields.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/input/object_reader.hpp"

namespace equarx::keys {

/// A kind of input file.
struct Document {
  std::string name;  ///< of its schema, without ending
  std::string_view title;
  std::string_view description;
  input::Json (*schema)();  ///< with annotations
};

/// All kinds of input files, but not results.
std::span<const Document> documents();

}  // namespace equarx::keys
