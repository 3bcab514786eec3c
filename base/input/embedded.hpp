// Files of configs/ compiled into the program, so that it needs no installed data.
#pragma once

#include <span>
#include <string_view>

namespace equarx::input {

/// A file of configs/ embedded in the program.
struct EmbeddedFile {
  std::string_view name;  ///< file name without directory and ".json"
  std::string_view text;
};

/// configs/hardware/*.json
std::span<const EmbeddedFile> embedded_hardware();

/// configs/models/*.json
std::span<const EmbeddedFile> embedded_models();

/// configs/formats/*.json: formats of stored tensors
std::span<const EmbeddedFile> embedded_formats();

/// configs/schemes/*.json: formats and arithmetic of GEMMs
std::span<const EmbeddedFile> embedded_schemes();

/// configs/new/*.json: commented templates
std::span<const EmbeddedFile> embedded_new();

/// configs/accuracy/*.json: measured rows and their simulated figures
std::span<const EmbeddedFile> embedded_accuracy();

/// configs/schema/*.json
std::span<const EmbeddedFile> embedded_schemas();

}  // namespace equarx::input
