// Aliases of number formats in other tools.
#pragma once

#include <span>
#include <string_view>

#include "base/input/object_reader.hpp"

namespace equarx::config {

/// A format by its name elsewhere: in PyTorch, JAX and NumPy, in XLA's HLO, in papers.
struct FormatAlias {
  std::string_view alias;  ///< "bfloat16"
  std::string_view name;   ///< name in configurations: "bf16"
};

/// All aliases.
std::span<const FormatAlias> format_aliases();

/// Returns the configuration name of an alias, or `name` itself, known or not.
std::string_view format_name(std::string_view name);

/// Replaces aliases in a configuration: a tensor's `dtype`, and `format` and `cast_to` of its
/// collectives. Malformed parts are left unchanged.
void replace_format_aliases(input::Json& config);

/// Schema of a format or type by one of `names` or an alias of it. `definition`: name of the aliases
/// in the schema.
input::Json format_name_schema(std::span<const std::string_view> names,
                               std::string_view definition);

}  // namespace equarx::config
