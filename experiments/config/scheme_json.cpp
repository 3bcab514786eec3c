#include "experiments/config/scheme_json.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/embedded.hpp"
#include "base/input/enum_names.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/stored_json.hpp"

namespace equarx::config {
namespace {

using gemm::Accumulator;
using gemm::ScalePlacement;
using gemm::Scheme;
using gemm::Unit;

constexpr input::EnumNames<Unit, 8> kUnits({
    {Unit::fp32, "fp32"},
    {Unit::bf16, "bf16"},
    {Unit::fp16, "fp16"},
    {Unit::int8, "int8"},
    {Unit::fp8, "fp8"},
    {Unit::fp4, "fp4"},
    {Unit::int1, "int1"},
    {Unit::table, "table"},
});
constexpr input::EnumNames<ScalePlacement, 3> kScalePlaces({
    {ScalePlacement::before, "before"},
    {ScalePlacement::by_group, "by-group"},
    {ScalePlacement::end, "end"},
});
constexpr input::EnumNames<Accumulator, 4> kAccumulators({
    {Accumulator::fp32, "fp32"},
    {Accumulator::fp16, "fp16"},
    {Accumulator::bf16, "bf16"},
    {Accumulator::int32, "int32"},
});

/// Accumulator, whose default depends on the unit.
struct Sums {
  void read(input::ObjectReader& reader, std::string_view key, Scheme& scheme) const {
    const Accumulator usual =
        gemm::multiplies_codes(scheme.unit) ? Accumulator::int32 : Accumulator::fp32;
    scheme.accumulate = reader.choice_or(key, kAccumulators, usual);
  }
  void write(const Scheme& scheme, std::string_view key, input::Json& json) const {
    json[std::string(key)] = kAccumulators[scheme.accumulate];
  }
  input::Json schema() const { return input::OneOf{kAccumulators}.schema(); }
};

const input::Table<Scheme>& scheme_table() {
  static const input::Table<Scheme> table{
      {"source", &Scheme::source, input::Text{}, "for readers", input::otherwise("none")},
      {"weights", &Scheme::weights, FormatChoice{},
       "[format](stored_formats.md#keys) of W: a file in `configs/formats` by name, a path, or an "
       "object",
       input::otherwise("rounded to the type of the unit")},
      {"activations", &Scheme::activations, FormatChoice{},
       "format of X; its rows are tokens, so groups of a row are scaled per token",
       input::otherwise("rounded to the type of the unit")},
      {"unit", &Scheme::unit, input::OneOf{kUnits},
       "operands of the matrix unit: `\"fp32\"`, `\"bf16\"`, `\"fp16\"`, `\"int8\"`, `\"fp8\"`, "
       "`\"fp4\"`, `\"int1\"` (bit planes), or `\"table\"` of the products of two codes"},
      {"accumulate", Sums{}, "type of sums: `\"fp32\"`, `\"fp16\"`, `\"bf16\"`, `\"int32\"`",
       input::otherwise("`\"int32\"` for `int8`, `int1` and `table`, else `\"fp32\"`")},
      {"scales", &Scheme::scales, input::OneOf{kScalePlaces},
       "`\"before\"`: multiplies decoded operands; `\"by-group\"`: scales the sum of each group; "
       "`\"end\"`: scales results"},
  };
  return table;
}

}  // namespace

Scheme read_scheme(const input::Json& json, const std::string& pointer) {
  const Scheme scheme = scheme_table().read_all(input::ObjectReader(json, pointer));
  input::at(pointer + "/accumulate", [&] { gemm::check_accumulator(scheme); });
  input::at(pointer + "/weights", [&] { gemm::check_operand(scheme, scheme.weights, "weights"); });
  input::at(pointer + "/activations",
            [&] { gemm::check_operand(scheme, scheme.activations, "activations"); });
  input::at(pointer + "/scales", [&] { gemm::check_scaling(scheme); });
  return scheme;
}

Scheme load_scheme(const std::string& name_or_path, const std::string& pointer) {
  if (input::is_path(name_or_path))
    return input::read_named_file(name_or_path, pointer, [](const std::string& text) {
      return read_scheme(input::parse_json(text));
    });
  const auto files = input::embedded_schemes();
  const auto found = std::ranges::find(files, name_or_path, &input::EmbeddedFile::name);
  if (found != files.end()) return read_scheme(input::parse_json(found->text));
  throw input::InputError(
      pointer, fmt::format("'{}' is not a known scheme; {}, or the path of a scheme file",
                           name_or_path, input::remedy_of_all(name_or_path, scheme_names())));
}

std::vector<std::string_view> scheme_names() {
  std::vector<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_schemes()) names.push_back(file.name);
  return names;
}

input::Json scheme_json(const Scheme& scheme) { return scheme_table().write(scheme); }

void SchemeValue::read(input::ObjectReader& reader, std::string_view key,
                       SchemeConfig& config) const {
  const std::string pointer = reader.pointer_to(key);
  constexpr std::string_view kExpected = "the name of a scheme, a path or an object";
  const input::Json& json = reader.required(key, kExpected);
  if (!json.is_string() && !json.is_object())
    throw input::InputError(pointer, fmt::format("expected {}", kExpected));
  config.name = json.is_string() ? json.get<std::string>() : "";
  config.scheme = json.is_string() ? load_scheme(config.name, pointer)
                                   : input::within(pointer, [&] { return read_scheme(json); });
}

input::Json SchemeValue::write(const SchemeConfig& config) const {
  if (config.name.empty() || input::is_path(config.name)) return scheme_json(config.scheme);
  return config.name;
}

input::Json SchemeValue::schema() const {
  return input::one_of({input::Text{}.schema(), scheme_schema()});
}

input::Json scheme_schema() { return scheme_table().schema(); }

}  // namespace equarx::config
