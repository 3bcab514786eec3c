#include "experiments/config/hugging_face.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/model_json.hpp"
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

  Json qwen = llama();
  qwen["model_type"] = "qwen2";
  qwen["sliding_window"] = 131072;
  qwen["use_sliding_window"] = false;
  CHECK(workloads::local_layers(read_hugging_face(qwen)) == 0);
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
  refused("num_local_experts", 8, "/num_local_experts: is of a model with experts");
  refused("kv_lora_rank", 512, "latent attention");
  refused("hidden_size", nullptr, "/hidden_size: is missing");
  refused("hidden_act", "tanh", "/hidden_act: \"tanh\" is not supported");
  refused("num_key_value_heads", 5, "/num_key_value_heads: 5 does not divide the 32 heads");
  refused("vocab_size", -1, "/vocab_size");
}

}  // namespace
}  // namespace equarx::config::hugging_face_test
