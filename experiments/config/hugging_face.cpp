#include "experiments/config/hugging_face.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"

namespace equarx::config {
namespace {

using input::InputError;
using input::Json;
using workloads::Activation;
using workloads::Transformer;

constexpr std::uint64_t kMost = 1 << 24;

/// Keys of architectures that differ from a dense decoder with grouped-query attention.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kUnsupported = {
    {{"num_local_experts", "experts"},
     {"num_experts", "experts"},
     {"n_routed_experts", "experts"},
     {"kv_lora_rank", "latent attention"},
     {"encoder_layers", "an encoder"}}};

bool has(const Json& json, std::string_view key) {
  const auto found = json.find(std::string(key));
  return found != json.end() && !found->is_null();
}

std::uint32_t count(const Json& json, std::string_view key) {
  if (!has(json, key))
    throw InputError("/" + std::string(key), "is missing; a config.json of a decoder has it");
  return static_cast<std::uint32_t>(
      input::read_integer(json.at(std::string(key)), "/" + std::string(key), 1, kMost));
}

std::uint32_t count_or(const Json& json, std::string_view key, std::uint32_t fallback) {
  return has(json, key) ? count(json, key) : fallback;
}

bool flag_or(const Json& json, std::string_view key, bool fallback) {
  return has(json, key) && json.at(std::string(key)).is_boolean()
             ? json.at(std::string(key)).get<bool>()
             : fallback;
}

std::string text_or(const Json& json, std::string_view key, std::string fallback) {
  return has(json, key) && json.at(std::string(key)).is_string()
             ? json.at(std::string(key)).get<std::string>()
             : fallback;
}

Activation activation_of(const Json& json) {
  const std::string name = text_or(json, "hidden_activation", text_or(json, "hidden_act", "silu"));
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "relu") return Activation::relu;
  if (name.starts_with("gelu")) return Activation::gelu;
  throw InputError(
      "/hidden_act",
      fmt::format("\"{}\" is not supported; use \"silu\", \"gelu\" or \"relu\"", name));
}

/// Local layers: all (Mistral), or all but every n-th (Gemma).
void read_windows(const Json& json, const std::string& type, Transformer& model) {
  if (!has(json, "sliding_window")) return;
  const bool is_qwen = type.starts_with("qwen");
  if (is_qwen && !flag_or(json, "use_sliding_window", false)) return;
  constexpr std::uint32_t kGemma2 = 2;
  constexpr std::uint32_t kGemma3 = 6;
  std::uint32_t period = 0;  // every layer is local
  if (type.starts_with("gemma2")) period = kGemma2;
  if (type.starts_with("gemma3")) period = count_or(json, "sliding_window_pattern", kGemma3);
  model.window = count(json, "sliding_window");
  model.local_layers_per_global = period > 0 ? period - 1 : model.layers;
}

}  // namespace

bool is_hugging_face(const Json& json) {
  return json.is_object() && (json.contains("model_type") || json.contains("text_config"));
}

Transformer read_hugging_face(const Json& whole) {
  const Json& json = whole.contains("text_config") && whole.at("text_config").is_object()
                         ? whole.at("text_config")
                         : whole;
  const std::string type = text_or(json, "model_type", text_or(whole, "model_type", ""));
  for (const auto& [key, what] : kUnsupported)
    if (has(json, key))
      throw InputError("/" + std::string(key),
                       fmt::format("is of a model with {}; only dense decoders with grouped-query "
                                   "attention are supported",
                                   what));
  const bool is_gemma = type.starts_with("gemma");
  const bool has_post_norms = type.starts_with("gemma2") || type.starts_with("gemma3");
  const bool has_qk_norms = type.starts_with("gemma3") || type.starts_with("qwen3");
  Transformer model{.name = text_or(whole, "_name_or_path", type),
                    .description = fmt::format("a model of type {}", type),
                    .source = "config.json of Transformers",
                    .layers = count(json, "num_hidden_layers"),
                    .d_model = count(json, "hidden_size"),
                    .heads = count(json, "num_attention_heads"),
                    .ffn = count(json, "intermediate_size"),
                    .activation = activation_of(json),
                    .vocabulary = count(json, "vocab_size"),
                    .tied_embeddings = flag_or(json, "tie_word_embeddings", is_gemma),
                    .largest_context = count(json, "max_position_embeddings"),
                    .post_norms = has_post_norms,
                    .qk_norms = has_qk_norms};
  if (model.name.empty()) model.name = type;
  model.kv_heads = count_or(json, "num_key_value_heads", model.heads);
  if (model.heads % model.kv_heads != 0)
    throw InputError("/num_key_value_heads",
                     fmt::format("{} does not divide the {} heads", model.kv_heads, model.heads));
  if (!has(json, "head_dim") && model.d_model % model.heads != 0)
    throw InputError("/head_dim", "is missing, and hidden_size is no multiple of the heads");
  model.head_size = count_or(json, "head_dim", model.d_model / model.heads);
  if (model.head_size % 2 != 0)
    throw InputError("/head_dim", "is odd; rotary embeddings rotate pairs");
  read_windows(json, type, model);
  return model;
}

}  // namespace equarx::config
