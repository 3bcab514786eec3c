// Model configurations of Hugging Face's Transformers.
#pragma once

#include "base/input/object_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::config {

/// True for the contents of a config.json of Transformers.
bool is_hugging_face(const input::Json& json);

/// Reads a config.json of a dense decoder: Llama, Mistral, Qwen 2 and 3, Gemma 2 and 3, and models
/// with their keys. Also reads the "text_config" of a multimodal one.
/// @throws input::InputError for experts, latent attention, missing keys and other activations
workloads::Transformer read_hugging_face(const input::Json& json);

}  // namespace equarx::config
