// JSON of transformer model files.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::config {

/// Loads a transformer by the name of a built-in model file ("gemma3-27b"), or by path (anything
/// that contains a '/' or ends in ".json"). @throws InputError, at `pointer`.
workloads::Transformer load_model(const std::string& name_or_path, const std::string& pointer);

/// Reads the contents of a model file, or of a config.json of Hugging Face's Transformers.
workloads::Transformer read_model(const input::Json& json);

/// Schema of model files, with annotations.
input::Json model_schema();

}  // namespace equarx::config
