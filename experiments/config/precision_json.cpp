#include "experiments/config/precision_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/enum_names.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"

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

input::Json matrix_type_schema() { return input::Named{hardware::kNumberTypes}.schema(); }

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

/// A matmul type; `fallback` if absent, from the types read before.
struct MatrixTypeKey {
  hardware::MatrixType ProductTypes::*type;
  hardware::MatrixType ProductTypes::*fallback;

  void read(input::ObjectReader& reader, std::string_view key, ProductTypes& types) const {
    types.*type = input::choose(reader, key, hardware::kNumberTypes, types.*fallback);
  }
  void write(const ProductTypes& types, std::string_view key, input::Json& json) const {
    json[std::string(key)] = hardware::name(types.*type);
  }
  input::Json schema() const { return matrix_type_schema(); }
};

const input::Table<ProductTypes>& types_table() {
  static const input::Table<ProductTypes> table{
      {{"forward", MatrixTypeKey{&ProductTypes::forward, &ProductTypes::forward}, "forward pass",
        input::by_default(R"("bf16")")},
       {"input_gradient", MatrixTypeKey{&ProductTypes::input_gradient, &ProductTypes::forward},
        "input gradients; attention: all gradients", input::otherwise("`forward`")},
       {"weight_gradient",
        MatrixTypeKey{&ProductTypes::weight_gradient, &ProductTypes::input_gradient},
        "weight gradients", input::otherwise("`input_gradient`")},
       {"scaling", input::Elsewhere{input::OneOf{kScalings}},
        "operand scaling: `\"delayed\"`, `\"current\"`, `\"rows\"`, `\"blocks\"`, `\"mx\"`, "
        "`\"nv\"`",
        input::otherwise("by type")}},
      {.definition = "product_types", .shown_as = "*"}};
  return table;
}

ProductTypes read_types(input::ObjectReader reader, const ProductClass& which) {
  ProductTypes types;
  if (is_attention(which)) reader.reject("weight_gradient", "attention has no weights; remove it");
  types_table().read(reader, types);
  if (!is_any_scaled(types)) reader.reject("scaling", "no type of this class is scaled; remove it");
  types.scaling = reader.choice_or("scaling", kScalings, usual_scaling(which, types));
  check_scaling(which, types, reader.pointer_to("scaling"));
  reader.finish();
  return types;
}

/// One type for all matmuls of a class, or an object.
struct ClassTypes {
  ProductClass which;

  void read(input::ObjectReader& reader, std::string_view key, ProductTypes& types) const {
    if (!reader.required(key, "a matmul type").is_string()) {
      types = read_types(reader.object(key), which);
      return;
    }
    types = steps::all_of(
        input::choose(reader, key, hardware::kNumberTypes, hardware::MatrixType::bf16));
    types.scaling = usual_scaling(which, types);
    check_scaling(which, types, reader.pointer_to(key));
  }
  input::Json write(const ProductTypes& types) const {
    input::Json json = types_table().write(types);
    if (is_attention(which)) json.erase("weight_gradient");
    if (is_any_scaled(types)) json["scaling"] = kScalings[types.scaling];
    return json;
  }
  input::Json schema() const {
    return input::one_of({matrix_type_schema(), types_table().schema()});
  }
};

std::vector<std::string_view> recipe_names() {
  std::vector<std::string_view> names;
  for (const Precision& precision : steps::precisions()) names.push_back(precision.name);
  return names;
}

const Precision& read_recipe(input::ObjectReader& reader, std::string_view key) {
  return steps::precisions()[reader.choice(key, recipe_names())];
}

/// A recipe for all classes.
struct BaseRecipe {
  void read(input::ObjectReader& reader, std::string_view key, Precision& precision) const {
    if (reader.has(key)) precision = read_recipe(reader, key);
  }
  void write(const Precision&, std::string_view, input::Json&) const {}
  input::Json schema() const { return input::enum_schema(recipe_names()); }
};

const input::Table<Precision>& precision_table() {
  constexpr std::string_view kMeaning =
      "type of a class (q, k, v, output; scores, values; FFN; logits): `\"bf16\"`, `\"fp32\"`, "
      "`\"int8\"`, `\"fp8\"`, `\"fp4\"`, or an object";
  constexpr input::Presence kByRecipe = input::otherwise("by recipe");
  static const input::Table<Precision> table{
      {"recipe", BaseRecipe{}, "recipe for unspecified keys", input::by_default(R"("bf16")")},
      {"projections", &Precision::projections, ClassTypes{kClasses[0]}, kMeaning, kByRecipe},
      {"attention", &Precision::attention, ClassTypes{kClasses[1]}, kMeaning, kByRecipe},
      {"ffn", &Precision::ffn, ClassTypes{kClasses[2]}, kMeaning, kByRecipe},
      {"head", &Precision::head, ClassTypes{kClasses[3]}, kMeaning, kByRecipe},
  };
  return table;
}

bool is_recipe(const Precision& precision, const Precision& recipe) {
  return std::ranges::all_of(kClasses, [&](const ProductClass& which) {
    return precision.*which.types == recipe.*which.types;
  });
}

}  // namespace

Precision read_precision(input::ObjectReader& training) {
  if (!training.has("precision")) return {};
  if (training.required("precision", "a recipe").is_string())
    return read_recipe(training, "precision");
  Precision precision = precision_table().read_all(training.object("precision"));
  const auto recipe = std::ranges::find(steps::precisions(), precision.name, &Precision::name);
  if (recipe == steps::precisions().end() || is_recipe(precision, *recipe)) return precision;
  precision.name = "";
  precision.source = "";
  return precision;
}

input::Json precision_json(const Precision& precision) {
  if (!precision.name.empty()) return precision.name;
  return precision_table().write(precision);
}

input::Json precision_schema() {
  return input::one_of({input::enum_schema(recipe_names()), precision_table().schema()});
}

}  // namespace equarx::config
