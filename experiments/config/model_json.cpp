#include "experiments/config/model_json.hpp"

#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/embedded.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/nearest.hpp"
#include "experiments/config/hugging_face.hpp"

namespace equarx::config {
namespace {

using workloads::Transformer;

constexpr input::EnumNames<workloads::Activation, 4> kActivations({
    {workloads::Activation::gelu, "gelu"},
    {workloads::Activation::silu, "silu"},
    {workloads::Activation::relu, "relu"},
    {workloads::Activation::xielu, "xielu"},
});
constexpr input::EnumNames<workloads::WeightType, 2> kWeightTypes({
    {workloads::WeightType::bf16, "bf16"},
    {workloads::WeightType::fp32, "fp32"},
});

/// Far above any model; keeps derived counts exact in a double.
constexpr std::uint64_t kMostModelCount = 1 << 24;

/// A count above 0.
constexpr input::Integer kCount{1, kMostModelCount};

/// An even count.
struct Even {
  void read(input::ObjectReader& reader, std::string_view key, std::uint32_t& number) const {
    kCount.read(reader, key, number);
    if (number % 2 != 0)
      throw input::InputError(
          reader.pointer_to(key),
          fmt::format("{} is odd; rotary embeddings rotate pairs, so it must be even", number));
  }
  input::Json write(std::uint32_t number) const { return number; }
  input::Json schema() const {
    return {{"type", "integer"}, {"minimum", 2}, {"maximum", kMostModelCount}, {"multipleOf", 2}};
  }
};

/// Key and value heads, which divide the query heads.
struct Divisor : input::Integer {
  void read(input::ObjectReader& reader, std::string_view key, Transformer& model) const {
    Integer::read(reader, key, model.kv_heads);
    if (model.heads % model.kv_heads != 0)
      throw input::InputError(
          reader.pointer_to(key),
          fmt::format("{} heads cannot share {} key and value heads evenly; heads must "
                      "be a multiple of kv_heads",
                      model.heads, model.kv_heads));
  }
  void write(const Transformer& model, std::string_view key, input::Json& json) const {
    json[std::string(key)] = model.kv_heads;
  }
};

const input::Table<Transformer>& local_attention_table() {
  static const input::Table<Transformer> table{
      {"layers_per_global", &Transformer::local_layers_per_global, kCount,
       "n, local layers before each global one; without `local_attention` all are global",
       input::kRequired},
      {"window", &Transformer::window, kCount, "positions of a local layer", input::kRequired},
  };
  return table;
}

/// Layers that attend to a window only, if the key is present.
struct LocalAttention {
  void read(input::ObjectReader& reader, std::string_view key, Transformer& model) const {
    if (reader.has(key)) input::Nested{local_attention_table}.read(reader, key, model);
  }
  void write(const Transformer& model, std::string_view key, input::Json& json) const {
    if (model.local_layers_per_global > 0)
      json[std::string(key)] = local_attention_table().write(model);
  }
  input::Json schema() const { return local_attention_table().schema(); }
};

const input::Table<workloads::Experts>& experts_table() {
  using workloads::Experts;
  constexpr input::Integer kAny{0, kMostModelCount};
  static const input::Table<Experts> table{
      {"count", &Experts::count, kCount, "E, experts of a layer", input::kRequired},
      {"top_k", &Experts::top_k, kCount, "k, experts of a token, at most `count`",
       input::kRequired},
      {"ffn", &Experts::ffn, kCount, "inner width of an expert", input::kRequired},
      {"shared_ffn", &Experts::shared_ffn, kAny,
       "inner width of the experts of all tokens, joined; 0: none"},
      {"dense_layers", &Experts::dense_layers, kAny, "first layers, with an FFN of width `ffn`"},
      {"every", &Experts::every, kCount,
       "n: the n-th, 2n-th, ... layers have experts, others an FFN"},
  };
  return table;
}

const input::Table<workloads::Latent>& latent_table() {
  using workloads::Latent;
  static const input::Table<Latent> table{
      {"query_rank", &Latent::query_rank, input::Integer{0, kMostModelCount},
       "width of the vector that queries are products of; 0: one matrix"},
      {"kv_rank", &Latent::kv_rank, kCount,
       "width of the vector that keys and values are products of", input::kRequired},
      {"rope", &Latent::rope, Even{}, "rotary elements among `head_size`", input::kRequired},
      {"value", &Latent::value, kCount, "elements of a value of a head", input::kRequired},
  };
  return table;
}

/// Keys that depend on each other. @throws input::InputError
void check_experts(const Transformer& model) {
  const workloads::Experts& experts = model.experts.value();
  if (experts.top_k > experts.count)
    throw input::InputError(
        "/experts/top_k", fmt::format("{} experts of a token are more than all {}; use at most {}",
                                      experts.top_k, experts.count, experts.count));
  if (experts.dense_layers >= model.layers)
    throw input::InputError(
        "/experts/dense_layers",
        fmt::format("{} leave none of {} layers for experts; use fewer, or remove \"experts\"",
                    experts.dense_layers, model.layers));
  if (experts.every > model.layers)
    throw input::InputError("/experts/every",
                            fmt::format("is {}, but there are {} layers; use at most {}",
                                        experts.every, model.layers, model.layers));
}

void check_latent(const Transformer& model) {
  if (model.latent->rope >= model.head_size)
    throw input::InputError("/latent_attention/rope",
                            fmt::format("{} rotary elements are not fewer than the {} of a head; "
                                        "\"head_size\" is of both parts of a key",
                                        model.latent->rope, model.head_size));
  if (model.kv_heads != model.heads)
    throw input::InputError("/kv_heads",
                            fmt::format("is {}; with latent attention every one of {} heads has "
                                        "keys of its own, so use {}",
                                        model.kv_heads, model.heads, model.heads));
}

void check_norms(const Transformer& model) {
  if (!model.pre_norms && !model.post_norms)
    throw input::InputError(
        "/pre_norms",
        "is false, and so is \"post_norms\": no norm is left in a layer; set one "
        "of them to true");
  if (!model.qk_gains && !model.qk_norms)
    throw input::InputError(
        "/qk_gains",
        "is false, but queries and keys have no norms; set \"qk_norms\" to true, "
        "or remove \"qk_gains\"");
}

const input::Table<Transformer>& model_table() {
  using input::Flag, input::kRequired, input::OneOf, input::Text;
  static const input::Table<Transformer> table{
      {"name", &Transformer::name, Text{}, "for readers", kRequired},
      {"description", &Transformer::description, Text{}, "for readers", kRequired},
      {"source", &Transformer::source, Text{}, "of the numbers", kRequired},
      {"layers", &Transformer::layers, kCount, "L", kRequired},
      {"d_model", &Transformer::d_model, kCount, "d, width of the residual", kRequired},
      {"heads", &Transformer::heads, kCount, "H, query heads", kRequired},
      {"kv_heads", Divisor{kCount}, "K, key and value heads, a divisor of `heads`", kRequired},
      {"head_size", &Transformer::head_size, Even{},
       "s, even (rotary pairs); with `latent_attention` of queries and keys", kRequired},
      {"ffn", &Transformer::ffn, kCount, "f, inner width of the FFN of layers without experts",
       kRequired},
      {"gated_ffn", &Transformer::gated_ffn, Flag{},
       "`true`: gate, up and down matrices; `false`: up and down", kRequired},
      {"activation", &Transformer::activation, OneOf{kActivations},
       R"(`"gelu"`, `"silu"`, `"relu"` or `"xielu"`)", kRequired},
      {"vocabulary", &Transformer::vocabulary, kCount, "v", kRequired},
      {"tied_embeddings", &Transformer::tied_embeddings, Flag{},
       "`true`: one table for lookup and logits; `false`: two", kRequired},
      {"local_attention", LocalAttention{}, ""},
      {"largest_context", &Transformer::largest_context, kCount, "maximum positions", kRequired},
      {"pre_norms", &Transformer::pre_norms, Flag{}, "norms before attention and FFN"},
      {"post_norms", &Transformer::post_norms, Flag{},
       "norms after attention and FFN, before the residual addition", kRequired},
      {"final_norm", &Transformer::final_norm, Flag{}, "norm before the head"},
      {"qk_norms", &Transformer::qk_norms, Flag{}, "per-head norms of queries and keys", kRequired},
      {"qk_gains", &Transformer::qk_gains, Flag{}, "`false`: these norms have no weights"},
      {"weights", &Transformer::weights, OneOf{kWeightTypes},
       R"(type in HBM: `"bf16"` or `"fp32"`)", kRequired},
      {"experts", &Transformer::experts, input::Nested{experts_table}, ""},
      {"latent_attention", &Transformer::latent, input::Nested{latent_table}, ""},
      {"prediction_layers", &Transformer::prediction_layers, input::Integer{0, kMostModelCount},
       "modules that predict further tokens, for [training](steps.md#multi-token-prediction)"},
  };
  return table;
}

}  // namespace

Transformer read_model(const input::Json& json) {
  if (is_hugging_face(json)) return read_hugging_face(json);
  Transformer model = model_table().read_all(input::ObjectReader(json, ""));
  check_norms(model);
  if (model.experts) check_experts(model);
  if (model.latent) check_latent(model);
  return model;
}

input::Json model_schema() { return model_table().schema(); }

Transformer load_model(const std::string& name_or_path, const std::string& pointer) {
  if (input::is_path(name_or_path))
    return input::read_named_file(name_or_path, pointer, [](const std::string& text) {
      return read_model(input::parse_json(text));
    });
  std::vector<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_models()) {
    if (file.name == name_or_path) return read_model(input::parse_json(file.text));
    names.push_back(file.name);
  }
  throw input::InputError(pointer,
                          fmt::format("'{}' is not a known model; {}, or the path of a model file",
                                      name_or_path, input::remedy_of_all(name_or_path, names)));
}

}  // namespace equarx::config
