// Model configurations of Hugging Face's Transformers.
#pragma once

#include "base/input/object_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::config {

/// True for the contents of a config.json of Transformers.
bool is_hugging_face(const input::Json& json);

/// Reads a config.json of a decoder: Llama, Mistral, Qwen 2 and 3, Gemma 2 and 3, and models with
/// their keys; with experts Mixtral, Qwen 2 and 3, DeepSeek-V2 and V3, gpt-oss and Llama 4. Also reads
/// the "text_config" of a multimodal one. Biases are left out.
/// @throws input::InputError for other models with experts, missing keys and other activations
workloads::Transformer read_hugging_face(const input::Json& json);

}  // namespace equarx::config
