// Files of configs/ that are compiled in, so that the program works wherever it is installed.
#pragma once

#include <span>
#include <string_view>

namespace equarx::input {

/// A file of configs/ that is part of the program.
struct EmbeddedFile {
  std::string_view name;  ///< without directory and ".json"
  std::string_view text;
};

/// configs/hardware/*.json
std::span<const EmbeddedFile> embedded_hardware();

/// configs/models/*.json
std::span<const EmbeddedFile> embedded_models();

/// configs/new/*.json: files to start from, with comments
std::span<const EmbeddedFile> embedded_new();

/// configs/schema/*.json
std::span<const EmbeddedFile> embedded_schemas();

}  // namespace equarx::input
