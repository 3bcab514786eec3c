// The names that other tools have for number formats.
#pragma once

#include <span>
#include <string_view>

#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// A format by the name that it has elsewhere: in PyTorch, JAX and NumPy, in XLA's HLO, in papers.
struct FormatAlias {
  std::string_view alias;  ///< "bfloat16"
  std::string_view name;   ///< what it is called here: "bf16"
};

/// All of them.
std::span<const FormatAlias> format_aliases();

/// What a format is called here: of an alias the name it stands for, else `name` itself, known or not.
std::string_view format_name(std::string_view name);

/// Replaces aliases in a configuration: a tensor's `dtype`, and `format` and `cast_to` of its collectives. What
/// is not as a configuration should be stays as it is.
void replace_format_aliases(input::Json& config);

}  // namespace equarx::config
