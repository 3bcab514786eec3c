#include "experiments/config/model_json.hpp"

#include <vector>

#include <fmt/format.h>

#include "experiments/input/embedded.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/nearest.hpp"

namespace equarx::config {
namespace {

using workloads::Transformer;

constexpr input::EnumNames<workloads::Activation, 3> kActivations({
    {workloads::Activation::gelu, "gelu"},
    {workloads::Activation::silu, "silu"},
    {workloads::Activation::relu, "relu"},
});
constexpr input::EnumNames<workloads::WeightType, 2> kWeightTypes({
    {workloads::WeightType::bf16, "bf16"},
    {workloads::WeightType::fp32, "fp32"},
});

/// Far above any model; keeps derived counts exact in a double.
constexpr std::uint64_t kMostCount = 1 << 24;

std::uint32_t read_count(input::ObjectReader& reader, std::string_view key) {
  return static_cast<std::uint32_t>(reader.integer(key, 1, kMostCount));
}

bool read_flag(input::ObjectReader& reader, std::string_view key) {
  const input::Json& value = reader.required(key, "true or false");
  if (!value.is_boolean())
    throw input::InputError(reader.pointer_to(key),
                            fmt::format("expected true or false, found {}", input::kind_of(value)));
  return value.get<bool>();
}

void read_heads(input::ObjectReader& reader, Transformer& model) {
  model.heads = read_count(reader, "heads");
  model.kv_heads = read_count(reader, "kv_heads");
  if (model.heads % model.kv_heads != 0)
    throw input::InputError(
        reader.pointer_to("kv_heads"),
        fmt::format("{} heads cannot share {} key and value heads evenly; heads must "
                    "be a multiple of kv_heads",
                    model.heads, model.kv_heads));
  model.head_size = read_count(reader, "head_size");
  if (model.head_size % 2 != 0)
    throw input::InputError(
        reader.pointer_to("head_size"),
        fmt::format("{} is odd; rotary embeddings rotate pairs, so it must be even",
                    model.head_size));
}

void read_ffn(input::ObjectReader& reader, Transformer& model) {
  model.ffn = read_count(reader, "ffn");
  model.gated_ffn = read_flag(reader, "gated_ffn");
  model.activation = reader.choice("activation", kActivations);
}

void read_local_attention(input::ObjectReader& reader, Transformer& model) {
  if (!reader.has("local_attention")) return;
  input::ObjectReader local = reader.object("local_attention");
  model.local_layers_per_global = read_count(local, "layers_per_global");
  model.window = read_count(local, "window");
  local.finish();
}

}  // namespace

Transformer read_model(const input::Json& json) {
  input::ObjectReader reader(json, "");
  Transformer model;
  model.name = reader.text("name");
  model.description = reader.text("description");
  model.source = reader.text("source");
  model.layers = read_count(reader, "layers");
  model.d_model = read_count(reader, "d_model");
  read_heads(reader, model);
  read_ffn(reader, model);
  model.vocabulary = read_count(reader, "vocabulary");
  model.tied_embeddings = read_flag(reader, "tied_embeddings");
  read_local_attention(reader, model);
  model.largest_context = read_count(reader, "largest_context");
  model.post_norms = read_flag(reader, "post_norms");
  model.qk_norms = read_flag(reader, "qk_norms");
  model.weights = reader.choice("weights", kWeightTypes);
  reader.finish();
  return model;
}

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
