#include "experiments/config/hugging_face.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"

namespace equarx::config {
namespace {

using input::InputError;
using input::Json;
using workloads::Activation;
using workloads::Transformer;

constexpr std::uint64_t kMost = 1 << 24;

/// Keys of the number of experts.
constexpr std::array<std::string_view, 3> kExpertCounts = {"num_local_experts", "num_experts",
                                                           "n_routed_experts"};

/// Types of models with experts whose keys are known, as prefixes.
constexpr std::array<std::string_view, 7> kTypesWithExperts = {
    "mixtral", "qwen2_moe", "qwen3_moe", "deepseek_v2", "deepseek_v3", "gpt_oss", "llama4"};

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
  if (name == "xielu") return Activation::xielu;
  if (name.starts_with("gelu")) return Activation::gelu;
  throw InputError(
      "/hidden_act",
      fmt::format("\"{}\" is not supported; use \"silu\", \"gelu\", \"relu\" or \"xielu\"", name));
}

bool is_one_of(const std::string& type, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return type.starts_with(prefix); });
}

/// Every n-th layer has experts, if they follow this rule.
std::uint32_t read_every(const Json& json) {
  if (has(json, "mlp_only_layers") && !json.at("mlp_only_layers").empty())
    throw InputError("/mlp_only_layers",
                     "lists layers without experts; write a model file with \"every\" or "
                     "\"dense_layers\" instead");
  if (count_or(json, "moe_layer_freq", 1) != 1)
    throw InputError("/moe_layer_freq", "is not 1; write a model file with \"every\" instead");
  return count_or(json, "interleave_moe_layer_step", count_or(json, "decoder_sparse_step", 1));
}

/// Width of the experts of all tokens: some of the others' width, or one of its own.
std::uint32_t read_shared(const Json& json, const std::string& type, std::uint32_t ffn) {
  if (type.starts_with("llama4")) return ffn;
  if (has(json, "n_shared_experts")) return count(json, "n_shared_experts") * ffn;
  return count_or(json, "shared_expert_intermediate_size", 0);
}

void read_experts(const Json& json, const std::string& type, Transformer& model) {
  const auto* const key =
      std::ranges::find_if(kExpertCounts, [&](std::string_view one) { return has(json, one); });
  if (key == kExpertCounts.end()) return;
  if (!is_one_of(type, kTypesWithExperts))
    throw InputError(
        "/" + std::string(*key),
        fmt::format("is of a model of type \"{}\" with experts; known types are {}; write "
                    "a model file with \"experts\" instead",
                    type, fmt::join(kTypesWithExperts, ", ")));
  workloads::Experts experts{.count = count(json, *key),
                             .top_k = count(json, "num_experts_per_tok")};
  if (experts.top_k > experts.count)
    throw InputError("/num_experts_per_tok",
                     fmt::format("{} is more than all {} experts", experts.top_k, experts.count));
  experts.ffn = count_or(json, "moe_intermediate_size", model.ffn);
  experts.shared_ffn = read_shared(json, type, experts.ffn);
  if (has(json, "first_k_dense_replace"))
    experts.dense_layers = static_cast<std::uint32_t>(input::read_integer(
        json.at("first_k_dense_replace"), "/first_k_dense_replace", 0, model.layers - 1));
  experts.every = read_every(json);
  model.ffn = count_or(json, "intermediate_size_mlp", model.ffn);
  model.experts = experts;
}

/// Latent attention, with a head of rotary and other elements.
void read_latent(const Json& json, Transformer& model) {
  workloads::Latent latent{.query_rank = count_or(json, "q_lora_rank", 0),
                           .kv_rank = count(json, "kv_lora_rank"),
                           .rope = count(json, "qk_rope_head_dim"),
                           .value = count(json, "v_head_dim")};
  if (latent.rope % 2 != 0)
    throw InputError("/qk_rope_head_dim", "is odd; rotary embeddings rotate pairs");
  model.head_size = count(json, "qk_nope_head_dim") + latent.rope;
  model.kv_heads = model.heads;
  model.latent = latent;
}

/// Key and value heads, each for as many query heads.
void read_heads(const Json& json, Transformer& model) {
  model.kv_heads = count_or(json, "num_key_value_heads", model.heads);
  if (model.heads % model.kv_heads != 0)
    throw InputError("/num_key_value_heads",
                     fmt::format("{} does not divide the {} heads", model.kv_heads, model.heads));
  if (!has(json, "head_dim") && model.d_model % model.heads != 0)
    throw InputError("/head_dim", "is missing, and hidden_size is no multiple of the heads");
  model.head_size = count_or(json, "head_dim", model.d_model / model.heads);
  if (model.head_size % 2 != 0)
    throw InputError("/head_dim", "is odd; rotary embeddings rotate pairs");
}

/// Chunks of Llama 4, which are counted as windows.
bool read_chunks(const Json& json, Transformer& model) {
  constexpr std::uint32_t kLlama4 = 4;
  if (!has(json, "attention_chunk_size")) return false;
  model.window = count(json, "attention_chunk_size");
  model.local_layers_per_global = count_or(json, "no_rope_layer_interval", kLlama4) - 1;
  return true;
}

/// Local layers: all (Mistral), or all but every n-th (Gemma, gpt-oss, Llama 4).
void read_windows(const Json& json, const std::string& type, Transformer& model) {
  if (read_chunks(json, model) || !has(json, "sliding_window")) return;
  const bool is_qwen = type.starts_with("qwen");
  if (is_qwen && !flag_or(json, "use_sliding_window", false)) return;
  constexpr std::uint32_t kAlternate = 2;
  constexpr std::uint32_t kGemma3 = 6;
  std::uint32_t period = 0;  // every layer is local
  if (type.starts_with("gemma2") || type.starts_with("gpt_oss")) period = kAlternate;
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
  if (has(json, "encoder_layers"))
    throw InputError("/encoder_layers",
                     "is of a model with an encoder; only decoders are supported");
  const bool is_gemma = type.starts_with("gemma");
  const bool is_olmo = type.starts_with("olmo2") || type.starts_with("olmo3");
  const bool has_post_norms = type.starts_with("gemma2") || type.starts_with("gemma3") || is_olmo;
  const bool has_qk_norms = type.starts_with("gemma3") || type.starts_with("qwen3") || is_olmo ||
                            type.starts_with("apertus") || flag_or(json, "use_qk_norm", false);
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
                    .pre_norms = !is_olmo,
                    .post_norms = has_post_norms,
                    .qk_norms = has_qk_norms,
                    .prediction_layers = count_or(json, "num_nextn_predict_layers", 0)};
  if (model.name.empty()) model.name = type;
  model.gated_ffn = model.activation != Activation::xielu;
  has(json, "kv_lora_rank") ? read_latent(json, model) : read_heads(json, model);
  read_experts(json, type, model);
  read_windows(json, type, model);
  return model;
}

}  // namespace equarx::config
