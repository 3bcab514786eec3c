#include "experiments/config/model_json.hpp"

#include <filesystem>

#include "base/input/embedded.hpp"
#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::model_json_test {
namespace {

using testing::check_refused;
using testing::TemporaryFile;
using workloads::Transformer;

input::Json gemma3_27b() {
  return input::parse_json(input::read_file(EQUARX_CONFIGS_DIR "/models/gemma3-27b.json"));
}

input::Json changed_model(const std::string& pointer, const std::string& text) {
  input::Json json = gemma3_27b();
  override_value(json, pointer, text);
  return json;
}

TEST_CASE("built-in models have the published numbers of parameters") {
  const auto check = [](const std::string& name, double without, double with) {
    CAPTURE(name);
    const Transformer model = load_model(name, "/workload/model");
    CHECK(workloads::parameters_without_embeddings(model) == Approx(without).epsilon(1e-3));
    CHECK(workloads::parameters(model) == Approx(with).epsilon(1e-3));
  };
  // Gemma 3: embeddings are one table of 262144 x d_model.
  check("gemma3-12b", 10.76e9, 10.76e9 + 1.0066e9);
  check("gemma3-27b", 25.60e9, 25.60e9 + 1.4093e9);
  check("llama3-8b", 6.98e9, 8.03e9);
  check("llama3-70b", 70.55e9 - 2 * 1.05067e9, 70.55e9);
  check("llama3.1-8b", 6.98e9, 8.03e9);
  check("llama2-7b", 6.48e9, 6.74e9);
  check("llama2-70b", 68.45e9, 68.98e9);
  check("llama3.1-405b", 401.65e9, 405.85e9);
  check("mistral-7b", 6.98e9, 7.24e9);
  check("mistral-nemo-12b", 10.906e9, 12.248e9);
  check("gemma-7b", 7.751e9, 8.538e9);
  check("llama2-13b", 12.688e9, 13.016e9);
  check("llama3.1-70b", 70.55e9 - 2 * 1.05067e9, 70.55e9);
}

TEST_CASE(
    "models of published training runs have the numbers of parameters implied by their shapes") {
  // Attention, FFN and norms of a layer, the final norm, and the tables, term by term.
  const auto check = [](const std::string& name, double attention, double ffn, double tables) {
    CAPTURE(name);
    const Transformer model = load_model(name, "/workload/model");
    const double layer = attention + ffn + 2.0 * model.d_model;
    const double without = model.layers * layer + model.d_model;
    CHECK(workloads::parameters_without_embeddings(model) == without);
    CHECK(workloads::parameters(model) == without + tables);
  };
  check("maxtext-16b", 4.0 * 4096 * 8192, 3.0 * 4096 * 28672, 2.0 * 32000 * 4096);
  check("maxtext-32b", 4.0 * 8192 * 8192, 3.0 * 8192 * 28672, 2.0 * 32000 * 8192);
  check("maxtext-16b-2023", 4.0 * 5120 * 8192, 2.0 * 5120 * 32768, 32768.0 * 5120);
  check("maxtext-32b-2023", 4.0 * 10240 * 8192, 2.0 * 10240 * 32768, 32768.0 * 10240);
  check("gpt-7b", 4.0 * 4096 * 4096, 2.0 * 4096 * 16384, 50304.0 * 4096);
  check("fog-llama-1.5b", 3.0 * 2048 * 2048, 3.0 * 2048 * 8192, 2.0 * 131072 * 2048);
  check("fog-llama-8b", 2.5 * 4096 * 4096, 3.0 * 4096 * 14336, 2.0 * 131072 * 4096);
  check("fog-llama-390m", 3.0 * 1024 * 1024, 3.0 * 1024 * 4096, 131072.0 * 1024);
  check("nemotron4-15b", 7.0 * 6144 * 6144 / 3, 2.0 * 6144 * 24576, 2.0 * 256000 * 6144);
  check("nemotron4-340b", 13.0 * 18432 * 18432 / 6, 2.0 * 18432 * 73728, 2.0 * 256000 * 18432);
}

TEST_CASE("FOG has as many weights as Llama, without norms before the halves and the head") {
  for (const std::string size : {"390m", "1.5b", "8b"})
    for (const std::string variant : {"fog-", "fog-gelu-"}) {
      const Transformer fog = load_model(variant + size, "");
      const Transformer llama = load_model("fog-llama-" + size, "");
      CAPTURE(fog.name);
      CHECK_FALSE(fog.pre_norms);
      CHECK_FALSE(fog.qk_gains);
      CHECK(2 * fog.ffn == 3 * llama.ffn);
      CHECK(fog.activation ==
            (variant == "fog-" ? workloads::Activation::xielu : workloads::Activation::gelu));
      // Two norms of a layer in both; one norm less before the head.
      CHECK(workloads::parameters(fog) == workloads::parameters(llama) - llama.d_model);
    }
  CHECK(load_model("gemma3-12b", "").pre_norms);
  CHECK(load_model("gemma3-12b", "").final_norm);
  CHECK(load_model("gemma3-12b", "").qk_gains);
}

TEST_CASE("norms that contradict each other are refused") {
  const auto check = [](const std::string& pointer, const std::string& other,
                        const std::string& remedy) {
    input::Json json = gemma3_27b();
    json[pointer.substr(1)] = false;
    json[other] = false;
    check_refused([&] { read_model(json); }, pointer, remedy);
    json[other] = true;
    CHECK_NOTHROW(read_model(json));
  };
  check("/pre_norms", "post_norms", "set one of them to true");
  check("/qk_gains", "qk_norms", "remove \"qk_gains\"");
}

TEST_CASE("models with experts have the published numbers of all and of active parameters") {
  const auto check = [](const std::string& name, double all, double active, double tolerance) {
    CAPTURE(name);
    const Transformer model = load_model(name, "/workload/model");
    CHECK(workloads::parameters(model) == Approx(all).epsilon(tolerance));
    return workloads::active_parameters(model) == Approx(active).epsilon(0.02);
  };
  CHECK(check("mixtral-8x7b", 46.7e9, 12.9e9, 2e-3));
  CHECK(check("deepseek-v3", 671e9, 37.5e9, 1e-3));    // 36.6e9 without the lookup's table
  CHECK(check("llama4-scout", 109e9, 17.2e9, 0.015));  // with an encoder of images
  CHECK(check("llama4-maverick", 400e9, 17.2e9, 5e-3));
  CHECK(check("qwen3-30b-a3b", 30.5e9, 3.35e9, 2e-3));
  CHECK(check("qwen3-235b-a22b", 235e9, 22.2e9, 2e-3));
  // Active ones are published without the table of the lookup, 201088 x 2880.
  CHECK(check("gpt-oss-20b", 20.9e9, 3.61e9 + 0.579e9, 2e-3));
  CHECK(check("gpt-oss-120b", 116.8e9, 5.13e9 + 0.579e9, 2e-3));
}

TEST_CASE("keys of experts and latent attention that depend on each other are refused") {
  const auto check = [](const char* model, const std::string& pointer, const std::string& value,
                        const std::string& remedy) {
    input::Json json = input::parse_json(
        input::read_file(std::string(EQUARX_CONFIGS_DIR "/models/") + model + ".json"));
    override_value(json, pointer, value);
    CAPTURE(pointer, value);
    check_refused([&] { read_model(json); }, pointer, remedy);
  };
  check("mixtral-8x7b", "/experts/top_k", "9", "use at most 8");
  check("mixtral-8x7b", "/experts/dense_layers", "32", "none of 32 layers");
  check("mixtral-8x7b", "/experts/every", "33", "use at most 32");
  check("mixtral-8x7b", "/experts/count", "0", "0 is not an integer from 1");
  check("deepseek-v3", "/latent_attention/rope", "192", "not fewer than the 192");
  check("deepseek-v3", "/latent_attention/rope", "63", "63 is odd");
  check("deepseek-v3", "/kv_heads", "64", "use 128");
}

TEST_CASE("Llama 3.1 is Llama 3 with a longer context") {
  for (const std::string size : {"8b", "70b"}) {
    Transformer longer = load_model("llama3.1-" + size, "");
    const Transformer model = load_model("llama3-" + size, "");
    CHECK(longer.largest_context == 131072);
    CHECK(workloads::parameters(longer) == workloads::parameters(model));
    CHECK(longer.kv_heads == model.kv_heads);
  }
}

TEST_CASE("Gemma 3 12B has the shape of its configuration") {
  const Transformer model = load_model("gemma3-12b", "");
  CHECK(model.layers == 48);
  CHECK(model.d_model == 3840);
  CHECK(model.heads == 16);
  CHECK(model.kv_heads == 8);
  CHECK(model.head_size == 256);
  CHECK(model.ffn == 15360);
  CHECK(model.gated_ffn);
  CHECK(model.activation == workloads::Activation::gelu);
  CHECK(model.vocabulary == 262144);
  CHECK(model.tied_embeddings);
  CHECK(model.local_layers_per_global == 5);
  CHECK(workloads::local_layers(model) == 40);
  CHECK(model.window == 1024);
  CHECK(model.post_norms);
  CHECK(model.qk_norms);
  CHECK(workloads::allreduce_bytes_per_token(model) == 7680);
}

TEST_CASE("Llama 3 attends to everything, and has two tables") {
  const Transformer model = load_model("llama3-8b", "");
  CHECK(workloads::local_layers(model) == 0);
  CHECK(model.activation == workloads::Activation::silu);
  CHECK_FALSE(model.tied_embeddings);
  CHECK_FALSE(model.post_norms);
  CHECK_FALSE(model.qk_norms);
  CHECK(model.largest_context == 8192);
}

TEST_CASE("every model file in configs/ is valid, built in, and has a source") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EQUARX_CONFIGS_DIR "/models")) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    ++files;
    CHECK_NOTHROW(input::check_schema(input::parse_json(input::read_file(path)), "model"));
    CHECK(load_model(path, "").name == entry.path().stem());
    const Transformer model = load_model(entry.path().stem(), "");
    CHECK(model.name == entry.path().stem());
    CHECK(model.source.size() > 20);
    CHECK(model.description.size() > 5);
  }
  CHECK(files == input::embedded_models().size());
}

TEST_CASE("an unknown model is refused with the known ones and the closest") {
  check_refused(
      [] { load_model("gemma3-27", "/workload/model"); }, "/workload/model",
      "'gemma3-27' is not a known model; did you mean 'gemma3-27b'? (one of deepseek-v3, "
      "fog-1.5b, fog-390m, fog-8b, fog-gelu-1.5b, fog-gelu-390m, fog-gelu-8b, fog-llama-1.5b, "
      "fog-llama-390m, fog-llama-8b, gemma-7b, gemma3-12b, gemma3-27b, gpt-7b, gpt-oss-120b, "
      "gpt-oss-20b, llama2-13b, llama2-70b, llama2-7b, llama3-70b, llama3-8b, llama3.1-405b, "
      "llama3.1-70b, llama3.1-8b, llama4-maverick, llama4-scout, maxtext-16b-2023, maxtext-16b, "
      "maxtext-32b-2023, maxtext-32b, mistral-7b, mistral-nemo-12b, mixtral-8x7b, nemotron4-15b, "
      "nemotron4-340b, qwen3-235b-a22b, qwen3-30b-a3b), or the path of a model file");
  check_refused([] { load_model("", "/workload/model"); }, "/workload/model", "one of deepseek-v3");
  check_refused([] { load_model("no/such.json", "/workload/model"); }, "/workload/model",
                "cannot read no/such.json");
}

TEST_CASE("an error in a model file is located in the configuration and in the file") {
  const TemporaryFile empty("");
  check_refused([&] { load_model(empty.path(), "/workload/model"); }, "/workload/model",
                "in " + empty.path() + ": not valid JSON at line 1, column 1");
  const TemporaryFile wrong(changed_model("/layers", "0").dump());
  check_refused([&] { load_model(wrong.path(), "/workload/model"); }, "/workload/model",
                "in " + wrong.path() + ": /layers: 0 is not an integer from 1");
  const TemporaryFile list("[1]");
  check_refused([&] { load_model(list.path(), "/workload/model"); }, "/workload/model",
                "expected an object");
}

struct Mistake {
  std::string pointer;
  std::string value;
  std::string place;
  std::string remedy;
  bool structural = true;  ///< the schema refuses it as well
};

TEST_CASE("errors in a model file are refused, structural ones also by the schema") {
  const std::vector<Mistake> mistakes = {
      {"/layer", "1", "/layer", "did you mean 'layers'?"},
      {"/name", "1", "/name", "expected a string"},
      {"/source", "null", "/source", "expected a string"},
      {"/layers", "0", "/layers", "0 is not an integer from 1"},
      {"/layers", "-1", "/layers", "-1 is not an integer from 1"},
      {"/layers", "1.5", "/layers", "1.5 is not an integer"},
      {"/layers", "many", "/layers", "expected an integer, found a string"},
      {"/layers", "16777217", "/layers", "from 1 to 16777216"},
      {"/d_model", "0", "/d_model", "0 is not an integer from 1"},
      {"/heads", "0", "/heads", "0 is not an integer from 1"},
      {"/kv_heads", "0", "/kv_heads", "0 is not an integer from 1"},
      {"/kv_heads", "12", "/kv_heads", "32 heads cannot share 12 key and value heads", false},
      {"/kv_heads", "64", "/kv_heads", "heads must be a multiple of kv_heads", false},
      {"/head_size", "0", "/head_size", "0 is not an integer from 1"},
      {"/head_size", "127", "/head_size", "127 is odd"},
      {"/ffn", "0", "/ffn", "0 is not an integer from 1"},
      {"/gated_ffn", "1", "/gated_ffn", "expected true or false, found a number"},
      {"/activation", "gelo", "/activation", "did you mean 'gelu'?"},
      {"/activation", "xielo", "/activation", "did you mean 'xielu'?"},
      {"/pre_norms", "post", "/pre_norms", "expected true or false, found a string"},
      {"/final_norm", "0", "/final_norm", "expected true or false, found a number"},
      {"/qk_gains", "1", "/qk_gains", "expected true or false, found a number"},
      {"/vocabulary", "0", "/vocabulary", "0 is not an integer from 1"},
      {"/tied_embeddings", "yes", "/tied_embeddings", "expected true or false, found a string"},
      {"/local_attention", "5", "/local_attention", "expected an object"},
      {"/local_attention", "{}", "/local_attention/layers_per_global", "is missing"},
      {"/local_attention/window", "0", "/local_attention/window", "0 is not an integer from 1"},
      {"/local_attention/layers_per_global", "0", "/local_attention/layers_per_global",
       "0 is not an integer from 1"},
      {"/local_attention/size", "1", "/local_attention/size", "unknown key"},
      {"/local_atention", "{}", "/local_atention", "did you mean 'local_attention'?"},
      {"/largest_context", "0", "/largest_context", "0 is not an integer from 1"},
      {"/post_norms", "null", "/post_norms", "expected true or false, found null"},
      {"/qk_norms", "[]", "/qk_norms", "expected true or false, found an array"},
      {"/weights", "bf61", "/weights", "did you mean 'bf16'?"}};
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    const input::Json json = changed_model(mistake.pointer, mistake.value);
    check_refused([&] { read_model(json); }, mistake.place, mistake.remedy);
    if (mistake.structural) CHECK_THROWS_AS(input::check_schema(json, "model"), input::InputError);
  }
}

TEST_CASE("every key of a model file is required, except local attention") {
  const input::Json good = gemma3_27b();
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    input::Json json = good;
    json.erase(key);
    if (key == "local_attention") {
      CHECK(workloads::local_layers(read_model(json)) == 0);
      CHECK_NOTHROW(input::check_schema(json, "model"));
      continue;
    }
    const std::string pointer = "/" + key;
    check_refused([&] { read_model(json); }, pointer, "is missing");
    CHECK_THROWS_AS(input::check_schema(json, "model"), input::InputError);
  }
}

}  // namespace
}  // namespace equarx::config::model_json_test
