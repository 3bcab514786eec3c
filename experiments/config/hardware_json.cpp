#include "experiments/config/hardware_json.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/embedded.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/nearest.hpp"
#include "base/input/once_map.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/calibration_json.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/matrix_products_json.hpp"
#include "experiments/config/parameter_json.hpp"
#include "experiments/config/slices_json.hpp"
#include "topologies/grid.hpp"

namespace equarx::config {
namespace {

constexpr std::array<std::string_view, 4> kRequiredKeys = {"name", "description", "parameters",
                                                           "slices"};

/// Lists all missing keys at once if there are several: the file is probably meant to override
/// another chip.
void check_complete(const input::Json& json) {
  std::vector<std::string> missing;
  for (const std::string_view key : kRequiredKeys)
    if (!json.contains(std::string(key))) missing.push_back(input::pointer("", key));
  if (json.contains("parameters") && json["parameters"].is_object())
    for (const hardware::ParameterInfo& info : hardware::parameters())
      if (!info.may_be_absent && !json["parameters"].contains(std::string(info.key)))
        missing.push_back(input::pointer("/parameters", info.key));
  if (missing.size() < 2) return;
  throw input::InputError(
      "", fmt::format("{} keys are missing: {}; add them, or name a base chip by \"{}\"",
                      missing.size(), fmt::join(missing, ", "), kBasedOn));
}

/// Cached: every point of a sweep loads its chip, which takes longer than reading the rest of an
/// experiment.
const hardware::Chip& built_in_chip(const input::EmbeddedFile& file) {
  static input::OnceMap<hardware::Chip> chips;
  return chips.get(file.name,
                   [&](hardware::Chip& chip) { chip = read_chip(input::parse_json(file.text)); });
}

using Files = std::vector<std::filesystem::path>;

hardware::Chip load(const std::string& name_or_path, const std::string& pointer,
                    const Files& origins);

/// Reads a file that overrides another chip. `origins`: the chain of files up to and including this
/// one.
hardware::Chip read_changed_chip(const input::Json& json, const Files& origins) {
  input::ObjectReader reader(json, "");
  std::string base = reader.text(kBasedOn);
  if (input::is_path(base)) base = (origins.back().parent_path() / base).string();
  hardware::Chip chip = load(base, reader.pointer_to(kBasedOn), origins);
  read_changes(reader, chip);
  if (reader.has("name")) chip.name = reader.text("name");
  if (reader.has("description")) chip.description = reader.text("description");
  reader.finish();
  return chip;
}

hardware::Chip read_text(const std::string& text, const std::string& path, Files origins) {
  origins.push_back(std::filesystem::path(path).lexically_normal());
  if (std::ranges::find(origins, origins.back()) != origins.end() - 1)
    throw input::InputError("", "is based on itself; name another chip");
  const input::Json json = input::parse_json(text);
  const bool is_change = json.is_object() && json.contains(std::string(kBasedOn));
  return is_change ? read_changed_chip(json, origins) : read_chip(json);
}

/// Rejects a name that is not a built-in chip.
[[noreturn]] void refuse_name(const std::string& name, const std::string& pointer,
                              std::span<const std::string_view> names) {
  const auto type = accelerator_type(name);
  if (!type) throw input::InputError(pointer, unknown_chip(name, names));
  const hardware::Chip chip = load_chip(std::string(type->chip), pointer);
  std::string slice;
  try {
    slice = fmt::format(", and \"{}\" as the slice",
                        topology::format_lengths(slice_of(*type, chip.slices)));
  } catch (const std::invalid_argument&) {  // reported where a slice is given
  }
  throw input::InputError(
      pointer,
      fmt::format("'{}' is a slice of a chip; use \"{}\" as the chip{}", name, chip.name, slice));
}

hardware::Chip load(const std::string& name_or_path, const std::string& pointer,
                    const Files& origins) {
  if (input::is_path(name_or_path))
    return input::read_named_file(name_or_path, pointer, [&](const std::string& text) {
      return read_text(text, name_or_path, origins);
    });
  const std::string name = chip_name(name_or_path);
  std::vector<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_hardware()) {
    if (file.name == name) return built_in_chip(file);
    names.push_back(file.name);
  }
  refuse_name(name_or_path, pointer, names);
}

}  // namespace

hardware::Chip read_chip(const input::Json& json) {
  input::ObjectReader reader(json, "");
  check_complete(json);
  hardware::Chip chip;
  chip.name = reader.text("name");
  chip.description = reader.text("description");
  input::ObjectReader parameters = reader.object("parameters");
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (!info.may_be_absent || parameters.has(info.key))
      chip.*info.member = read_parameter(parameters.object(info.key), info);
  parameters.finish();
  check_workgroups(chip, parameters);
  chip.slices = read_slices(reader.object("slices"));
  if (reader.has("matrix_products"))
    chip.matrix_products = read_matrix_products(reader.object("matrix_products"));
  if (reader.has("calibration"))
    chip.calibration = read_calibration(reader.object("calibration"), chip);
  reader.finish();
  return chip;
}

hardware::Chip load_chip(const std::string& name_or_path, const std::string& pointer) {
  return load(name_or_path, pointer, {});
}

input::Json parameters_json(const hardware::Chip& chip) {
  input::Json json = input::Json::object();
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (!hardware::is_absent(chip, info))
      json[std::string(info.key)] = parameter_json(info, chip.*info.member);
  return json;
}

input::Json to_json(const hardware::Chip& chip) {
  input::Json json = {{"name", chip.name},
                      {"description", chip.description},
                      {"parameters", parameters_json(chip)},
                      {"slices", slices_json(chip.slices)}};
  if (!chip.matrix_products.points.empty())
    json["matrix_products"] = matrix_products_json(chip.matrix_products);
  if (chip.calibration) json["calibration"] = calibration_json(*chip.calibration);
  return json;
}

namespace {

/// Unit of a parameter, for the page.
std::string_view unit_of(const hardware::ParameterInfo& info) {
  switch (info.kind) {
    case hardware::ParameterKind::quantity: return units::base_unit(info.dimension);
    case hardware::ParameterKind::ratio: return "1e-9 to 1";
    case hardware::ParameterKind::count: return "count";
  }
  throw std::logic_error("unknown kind of parameter");
}

/// Remarks of the page that reports omit.
std::string_view remark_on(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRemarks = {{
      {"links", "; without effect on times, except on a switch"},
      {"matrix_rate_fp4", ": block scales applied by the matrix unit"},
      {"matrix_rate_fp32", ": six bf16 passes on a TPU, without TF32 on a GPU"},
      {"thread_block_rate", " ([msccl.md](msccl.md))"},
      {"kernel_startup", " ([msccl.md](msccl.md))"},
  }};
  const auto found = std::ranges::find(kRemarks, key, &decltype(kRemarks)::value_type::first);
  return found == kRemarks.end() ? "" : found->second;
}

/// All parameters with their units and meanings.
input::Json parameters_schema() {
  std::vector<std::string_view> required;
  input::Json properties = input::Json::object();
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    if (!info.may_be_absent) required.push_back(info.key);
    input::Json& parameter = properties[std::string(info.key)];
    parameter = parameter_schema(info.kind);
    parameter[std::string(input::kUnit)] = unit_of(info);
    parameter["description"] = fmt::format("{}{}{}", info.description, remark_on(info.key),
                                           info.may_be_absent ? "; optional" : "");
  }
  return input::object_schema(properties, required, {});
}

input::Json whole_schema() {
  using input::Elsewhere;
  constexpr input::Presence kUnlessBased{.is_required = true,
                                         .words = "required without `based_on`"};
  static const input::Table<input::ReadElsewhere> table{
      {{"name", Elsewhere{input::Text{}}, "free text", kUnlessBased},
       {"description", Elsewhere{input::Text{}}, "free text", kUnlessBased},
       {"parameters", Elsewhere{parameters_schema},
        "all [parameters](#parameters) except optional ones", kUnlessBased},
       {"slices", Elsewhere{slices_schema}, "", input::kRequired},
       {"matrix_products", Elsewhere{matrix_products_schema}, "efficiency by GEMM size",
        input::otherwise("all sizes alike")},
       {"calibration", Elsewhere{calibration_schema},
        "joint uncertainty of fitted parameters: [below](#uncertainty)"}},
      {.definition = "whole"}};
  return table.schema();
}

input::Json change_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {{kBasedOn,
        Elsewhere{input::Text{}},
        "a built-in chip or a hardware file, relative to this one; allows only `name`, "
        "`description` and parameters in addition",
        {.is_required = true, .words = "none"}},
       {"name", Elsewhere{input::Text{}}, "free text"},
       {"description", Elsewhere{input::Text{}}, "free text"}},
      {.definition = "change"}};
  input::Json changes = changes_schema(changed_parameter_schema);
  changes["properties"].erase(std::string(kBasedOn));
  for (input::Json& key : changes["properties"])
    key["description"] =
        "with `based_on`: any [parameter](#parameters), as a value (`assumed`) or as an object";
  changes.erase("required");
  return input::joined({table.schema(), changes});
}

}  // namespace

input::Json hardware_schema() { return input::one_of({whole_schema(), change_schema()}); }

}  // namespace equarx::config
