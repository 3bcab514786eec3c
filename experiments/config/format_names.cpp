#include "experiments/config/format_names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/input/codecs.hpp"
#include "base/input/json.hpp"

namespace equarx::config {
namespace {

constexpr std::array kAliases = {FormatAlias{"float32", "fp32"},
                                 FormatAlias{"f32", "fp32"},
                                 FormatAlias{"float", "fp32"},
                                 FormatAlias{"bfloat16", "bf16"},
                                 FormatAlias{"float16", "fp16"},
                                 FormatAlias{"f16", "fp16"},
                                 FormatAlias{"half", "fp16"},
                                 FormatAlias{"float8_e4m3fn", "fp8-e4m3"},
                                 FormatAlias{"float8_e4m3", "fp8-e4m3"},
                                 FormatAlias{"f8e4m3fn", "fp8-e4m3"},
                                 FormatAlias{"fp8_e4m3", "fp8-e4m3"},
                                 FormatAlias{"e4m3", "fp8-e4m3"},
                                 FormatAlias{"float8_e5m2", "fp8-e5m2"},
                                 FormatAlias{"f8e5m2", "fp8-e5m2"},
                                 FormatAlias{"fp8_e5m2", "fp8-e5m2"},
                                 FormatAlias{"e5m2", "fp8-e5m2"},
                                 FormatAlias{"float8_e4m3fnuz", "fp8-e4m3fnuz"},
                                 FormatAlias{"f8e4m3fnuz", "fp8-e4m3fnuz"},
                                 FormatAlias{"fp8_e4m3fnuz", "fp8-e4m3fnuz"},
                                 FormatAlias{"e4m3fnuz", "fp8-e4m3fnuz"},
                                 FormatAlias{"float8_e5m2fnuz", "fp8-e5m2fnuz"},
                                 FormatAlias{"f8e5m2fnuz", "fp8-e5m2fnuz"},
                                 FormatAlias{"fp8_e5m2fnuz", "fp8-e5m2fnuz"},
                                 FormatAlias{"e5m2fnuz", "fp8-e5m2fnuz"},
                                 FormatAlias{"s8", "int8"},
                                 FormatAlias{"i8", "int8"},
                                 FormatAlias{"s4", "int4"},
                                 FormatAlias{"i4", "int4"},
                                 FormatAlias{"mxfp8_e4m3", "mxfp8-e4m3"},
                                 FormatAlias{"mxfp8_e5m2", "mxfp8-e5m2"},
                                 FormatAlias{"mxfp6_e2m3", "mxfp6-e2m3"},
                                 FormatAlias{"mxfp6_e3m2", "mxfp6-e3m2"},
                                 FormatAlias{"mxfp4_e2m1", "mxfp4"}};

void replace(input::Json& object, const std::string& key) {
  if (!object.is_object()) return;
  const auto member = object.find(key);
  if (member != object.end() && member->is_string())
    *member = std::string(format_name(member->get_ref<const std::string&>()));
}

}  // namespace

std::span<const FormatAlias> format_aliases() { return kAliases; }

std::string_view format_name(std::string_view name) {
  const auto found = std::ranges::find(kAliases, name, &FormatAlias::alias);
  return found == kAliases.end() ? name : found->name;
}

void replace_format_aliases(input::Json& config) {
  if (!config.is_object()) return;
  if (config.contains("tensor")) replace(config["tensor"], "dtype");
  if (!config.contains("collectives") || !config["collectives"].is_array()) return;
  for (input::Json& collective : config["collectives"])
    for (const std::string key : {"format", "cast_to"}) replace(collective, key);
}

input::Json format_name_schema(std::span<const std::string_view> names,
                               std::string_view definition) {
  std::vector<std::string_view> aliases;
  for (const FormatAlias& alias : kAliases)
    if (std::ranges::find(names, alias.name) != names.end()) aliases.push_back(alias.alias);
  input::Json other = input::enum_schema(aliases);
  other[std::string(input::kDefinition)] = definition;
  return {{"anyOf", {input::enum_schema(names), other}}};
}

}  // namespace equarx::config
