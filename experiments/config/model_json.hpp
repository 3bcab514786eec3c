// The one place where files of transformers meet JSON.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::config {

/// A transformer by the name of a built-in model file ("gemma3-27b"), or by the path of a file (anything
/// that has a '/' or ends in ".json"). @throws InputError, at `place`.
workloads::Transformer load_model(const std::string& name_or_path, const std::string& place);

/// Reads the contents of a model file.
workloads::Transformer read_model(const input::Json& json);

}  // namespace equarx::config
