#include "experiments/config/hugging_face.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/model_json.hpp"
#include "models/workloads/tensor_parallel.hpp"
#include "tests/catch.hpp"

namespace equarx::config::hugging_face_test {
namespace {

using input::Json;

/// Llama-3.1-8B's config.json.
Json llama() {
  return {{"model_type", "llama"},        {"hidden_size", 4096},
          {"num_hidden_layers", 32},      {"num_attention_heads", 32},
          {"num_key_value_heads", 8},     {"intermediate_size", 14336},
          {"hidden_act", "silu"},         {"vocab_size", 128256},
          {"tie_word_embeddings", false}, {"max_position_embeddings", 131072}};
}

TEST_CASE("the shape of Llama-3.1-8B is that of the built-in model") {
  const workloads::Transformer read = read_model(llama());
  const workloads::Transformer built_in = load_model("llama3.1-8b", "");
  CHECK(workloads::parameters(read) == workloads::parameters(built_in));
  CHECK(read.kv_heads == built_in.kv_heads);
  CHECK(read.head_size == built_in.head_size);
  CHECK(read.largest_context == built_in.largest_context);
}

TEST_CASE("windows and norms follow the type of the model") {
  Json mistral = llama();
  mistral["model_type"] = "mistral";
  mistral["sliding_window"] = 4096;
  const workloads::Transformer all_local = read_hugging_face(mistral);
  CHECK(workloads::local_layers(all_local) == 32);
  CHECK(all_local.window == 4096);

  Json gemma = llama();
  gemma["model_type"] = "gemma3_text";
  gemma["sliding_window"] = 1024;
  gemma["head_dim"] = 256;
  gemma["hidden_activation"] = "gelu_pytorch_tanh";
  gemma.erase("tie_word_embeddings");
  const workloads::Transformer mixed =
      read_hugging_face({{"model_type", "gemma3"}, {"text_config", gemma}});
  CHECK(workloads::local_layers(mixed) == 27);  // five of six
  CHECK(mixed.post_norms);
  CHECK(mixed.qk_norms);
  CHECK(mixed.tied_embeddings);
  CHECK(mixed.head_size == 256);
  CHECK(mixed.activation == workloads::Activation::gelu);

  Json olmo = llama();
  olmo["model_type"] = "olmo2";
  const workloads::Transformer after = read_hugging_face(olmo);
  CHECK_FALSE(after.pre_norms);
  CHECK(after.post_norms);
  CHECK(after.qk_norms);
  CHECK(after.gated_ffn);

  Json apertus = llama();
  apertus["model_type"] = "apertus";
  apertus["hidden_act"] = "xielu";
  const workloads::Transformer ungated = read_hugging_face(apertus);
  CHECK(ungated.activation == workloads::Activation::xielu);
  CHECK_FALSE(ungated.gated_ffn);
  CHECK(ungated.qk_norms);
  CHECK(ungated.pre_norms);

  Json qwen = llama();
  qwen["model_type"] = "qwen2";
  qwen["sliding_window"] = 131072;
  qwen["use_sliding_window"] = false;
  CHECK(workloads::local_layers(read_hugging_face(qwen)) == 0);
}

/// The shape of a built-in model, from keys of its config.json.
void check_shape(const Json& json, const char* name) {
  CAPTURE(name);
  const workloads::Transformer read = read_model(json);
  const workloads::Transformer built_in = load_model(name, "");
  CHECK(workloads::parameters(read) == workloads::parameters(built_in));
  CHECK(workloads::active_parameters(read) == workloads::active_parameters(built_in));
  CHECK(workloads::local_layers(read) == workloads::local_layers(built_in));
  CHECK(read.window == built_in.window);
  CHECK(read.heads == built_in.heads);
  CHECK(workloads::cached_elements(read, 1) == workloads::cached_elements(built_in, 1));
}

TEST_CASE("models with experts are read from their own keys") {
  Json json = llama();
  json.update({{"model_type", "mixtral"},
               {"sliding_window", nullptr},
               {"vocab_size", 32000},
               {"num_local_experts", 8},
               {"num_experts_per_tok", 2}});
  check_shape(json, "mixtral-8x7b");

  json = llama();
  json.update({{"model_type", "qwen3_moe"},
               {"hidden_size", 2048},
               {"num_hidden_layers", 48},
               {"num_key_value_heads", 4},
               {"head_dim", 128},
               {"intermediate_size", 6144},
               {"moe_intermediate_size", 768},
               {"vocab_size", 151936},
               {"num_experts", 128},
               {"num_experts_per_tok", 8},
               {"decoder_sparse_step", 1},
               {"mlp_only_layers", Json::array()}});
  check_shape(json, "qwen3-30b-a3b");
  json["mlp_only_layers"] = {3};
  CHECK_THROWS_WITH(read_model(json), ContainsSubstring("/mlp_only_layers"));

  json = llama();
  json.update({{"model_type", "gpt_oss"},
               {"hidden_size", 2880},
               {"num_hidden_layers", 24},
               {"num_attention_heads", 64},
               {"head_dim", 64},
               {"intermediate_size", 2880},
               {"vocab_size", 201088},
               {"sliding_window", 128},
               {"num_local_experts", 32},
               {"num_experts_per_tok", 4}});
  check_shape(json, "gpt-oss-20b");
  json["num_experts_per_tok"] = 33;
  CHECK_THROWS_WITH(read_model(json), ContainsSubstring("33 is more than all 32 experts"));
}

TEST_CASE("Llama 4 has chunks, shared experts and layers without experts") {
  Json json = llama();
  json.update({{"model_type", "llama4_text"},
               {"hidden_size", 5120},
               {"num_hidden_layers", 48},
               {"num_attention_heads", 40},
               {"intermediate_size", 8192},
               {"intermediate_size_mlp", 16384},
               {"interleave_moe_layer_step", 2},
               {"vocab_size", 202048},
               {"attention_chunk_size", 8192},
               {"num_local_experts", 128},
               {"num_experts_per_tok", 1}});
  check_shape({{"model_type", "llama4"}, {"text_config", json}}, "llama4-maverick");
  json.update({{"interleave_moe_layer_step", 1}, {"num_local_experts", 16}, {"use_qk_norm", true}});
  check_shape({{"model_type", "llama4"}, {"text_config", json}}, "llama4-scout");
}

TEST_CASE("DeepSeek-V3 has latent attention and dense layers") {
  Json json = llama();
  json.update({{"model_type", "deepseek_v3"},
               {"hidden_size", 7168},
               {"num_hidden_layers", 61},
               {"num_attention_heads", 128},
               {"num_key_value_heads", 128},
               {"intermediate_size", 18432},
               {"moe_intermediate_size", 2048},
               {"vocab_size", 129280},
               {"n_routed_experts", 256},
               {"n_shared_experts", 1},
               {"num_experts_per_tok", 8},
               {"first_k_dense_replace", 3},
               {"moe_layer_freq", 1},
               {"q_lora_rank", 1536},
               {"kv_lora_rank", 512},
               {"qk_nope_head_dim", 128},
               {"qk_rope_head_dim", 64},
               {"v_head_dim", 128},
               {"num_nextn_predict_layers", 1}});
  check_shape(json, "deepseek-v3");
  CHECK(read_hugging_face(json).prediction_layers == 1);
}

TEST_CASE("other architectures and incomplete files are refused with the key") {
  const auto refused = [](const char* key, const Json& value, const char* message) {
    Json json = llama();
    if (value.is_null())
      json.erase(key);
    else
      json[key] = value;
    CHECK_THROWS_WITH(read_hugging_face(json), ContainsSubstring(message));
  };
  refused(
      "num_local_experts", 8,
      "/num_local_experts: is of a model of type \"llama\" with experts; known types are mixtral");
  refused("encoder_layers", 8, "an encoder");
  refused("kv_lora_rank", 512, "/qk_rope_head_dim: is missing");
  refused("hidden_size", nullptr, "/hidden_size: is missing");
  refused("hidden_act", "tanh", "/hidden_act: \"tanh\" is not supported");
  refused("num_key_value_heads", 5, "/num_key_value_heads: 5 does not divide the 32 heads");
  refused("vocab_size", -1, "/vocab_size");
}

}  // namespace
}  // namespace equarx::config::hugging_face_test
