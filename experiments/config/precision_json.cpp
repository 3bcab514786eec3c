#include "experiments/config/precision_json.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "experiments/input/enum_names.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"

namespace equarx::config {
namespace {

using hardware::MatrixType;
using steps::Precision;
using steps::ProductTypes;
using steps::Scaling;

constexpr input::EnumNames<Scaling, 6> kScalings({
    {Scaling::delayed, "delayed"},
    {Scaling::current, "current"},
    {Scaling::rows, "rows"},
    {Scaling::blocks, "blocks"},
    {Scaling::mx, "mx"},
    {Scaling::nv, "nv"},
});

/// A class of matmuls and its key.
struct ProductClass {
  std::string_view key;
  ProductTypes Precision::*types;
};
constexpr std::array kClasses = {ProductClass{"projections", &Precision::projections},
                                 ProductClass{"attention", &Precision::attention},
                                 ProductClass{"ffn", &Precision::ffn},
                                 ProductClass{"head", &Precision::head}};

bool is_attention(const ProductClass& which) { return which.types == &Precision::attention; }

/// Attention supports per-tensor scaling only: it has no weights.
bool can_scale(const ProductClass& which, MatrixType type, Scaling scaling) {
  const bool of_tensors = scaling == Scaling::delayed || scaling == Scaling::current;
  return steps::can_scale(type, scaling) && (of_tensors || !is_attention(which));
}

/// Supported scalings of a type, for messages: "\"delayed\" or \"current\"".
std::string scalings_of(const ProductClass& which, MatrixType type) {
  std::string text;
  for (std::size_t i = 0; i < kScalings.all().size(); ++i)
    if (can_scale(which, type, static_cast<Scaling>(i)))
      text += fmt::format("{}\"{}\"", text.empty() ? "" : " or ", kScalings.all()[i]);
  return text;
}

void check_scaling(const ProductClass& which, const ProductTypes& types,
                   const std::string& pointer) {
  for (const MatrixType type : {types.forward, types.input_gradient, types.weight_gradient}) {
    if (!steps::is_scaled(type) || can_scale(which, type, types.scaling)) continue;
    const std::string options = scalings_of(which, type);
    if (options.empty())
      throw input::InputError(
          pointer, fmt::format("matmuls of {} do not support {}; use another type", which.key,
                               hardware::name(type)));
    throw input::InputError(
        pointer, fmt::format("{} of {} cannot be scaled by \"{}\"; use {}", hardware::name(type),
                             which.key, kScalings[types.scaling], options));
  }
}

/// Default scaling of a class.
Scaling usual_scaling(const ProductClass& which, const ProductTypes& types) {
  for (const MatrixType type : {types.forward, types.input_gradient, types.weight_gradient})
    if (steps::is_scaled(type))
      return is_attention(which) ? Scaling::delayed : steps::usual_scaling(type);
  return Scaling::delayed;
}

bool is_any_scaled(const ProductTypes& types) {
  return steps::is_scaled(types.forward) || steps::is_scaled(types.input_gradient) ||
         steps::is_scaled(types.weight_gradient);
}

ProductTypes read_types(input::ObjectReader reader, const ProductClass& which) {
  ProductTypes types;
  types.forward =
      input::choose(reader, "forward", hardware::kMatrixTypes, hardware::MatrixType::bf16);
  types.input_gradient =
      input::choose(reader, "input_gradient", hardware::kMatrixTypes, types.forward);
  if (is_attention(which)) reader.reject("weight_gradient", "attention has no weights; remove it");
  types.weight_gradient =
      input::choose(reader, "weight_gradient", hardware::kMatrixTypes, types.input_gradient);
  if (!is_any_scaled(types)) reader.reject("scaling", "no type of this class is scaled; remove it");
  types.scaling = reader.choice_or("scaling", kScalings, usual_scaling(which, types));
  check_scaling(which, types, reader.pointer_to("scaling"));
  reader.finish();
  return types;
}

/// Reads one type for all matmuls of the class, or an object.
ProductTypes read_class(input::ObjectReader& reader, const ProductClass& which) {
  if (!reader.required(which.key, "a matmul type").is_string())
    return read_types(reader.object(which.key), which);
  ProductTypes types = steps::all_of(
      input::choose(reader, which.key, hardware::kMatrixTypes, hardware::MatrixType::bf16));
  types.scaling = usual_scaling(which, types);
  check_scaling(which, types, reader.pointer_to(which.key));
  return types;
}

const Precision& read_recipe(input::ObjectReader& reader, std::string_view key) {
  std::vector<std::string_view> names;
  for (const Precision& precision : steps::precisions()) names.push_back(precision.name);
  return steps::precisions()[reader.choice(key, names)];
}

input::Json types_json(const ProductTypes& types, const ProductClass& which) {
  input::Json json = {{"forward", hardware::name(types.forward)},
                      {"input_gradient", hardware::name(types.input_gradient)}};
  if (!is_attention(which)) json["weight_gradient"] = hardware::name(types.weight_gradient);
  if (is_any_scaled(types)) json["scaling"] = kScalings[types.scaling];
  return json;
}

}  // namespace

Precision read_precision(input::ObjectReader& training) {
  if (!training.has("precision")) return {};
  if (training.required("precision", "a recipe").is_string())
    return read_recipe(training, "precision");
  input::ObjectReader reader = training.object("precision");
  const Precision base = reader.has("recipe") ? read_recipe(reader, "recipe") : Precision{};
  Precision precision = base;
  bool is_base = true;
  for (const ProductClass& which : kClasses) {
    if (!reader.has(which.key)) continue;
    precision.*which.types = read_class(reader, which);
    is_base = is_base && precision.*which.types == base.*which.types;
  }
  reader.finish();
  if (is_base) return base;
  precision.name = "";
  precision.source = "";
  return precision;
}

input::Json precision_json(const Precision& precision) {
  if (!precision.name.empty()) return precision.name;
  input::Json json = input::Json::object();
  for (const ProductClass& which : kClasses)
    json[std::string(which.key)] = types_json(precision.*which.types, which);
  return json;
}

}  // namespace equarx::config
