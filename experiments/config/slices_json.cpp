#include "experiments/config/slices_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config/parameter_json.hpp"
#include "experiments/input/codecs.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/fields.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/nearest.hpp"
#include "topologies/grid.hpp"

namespace equarx::config {
namespace {

using hardware::CubeRule;
using hardware::SliceLengths;
using hardware::Slices;
using hardware::WraparoundRule;

constexpr std::uint32_t kLongestAxisOfRule = std::numeric_limits<std::uint32_t>::max();
constexpr std::array kWraparoundRules = {WraparoundRule::never, WraparoundRule::axis_length,
                                         WraparoundRule::whole_cubes};

SliceLengths read_slice(const input::Json& json, const std::string& pointer) {
  if (!json.is_string()) throw input::InputError(pointer, "expected a slice such as \"4x4\"");
  try {
    return topology::parse_lengths(json.get<std::string>());
  } catch (const std::invalid_argument& error) {
    throw input::InputError(pointer, error.what());
  }
}

std::vector<SliceLengths> read_list(input::ObjectReader& reader) {
  std::vector<SliceLengths> slices;
  const input::Json& names = reader.array("list");
  for (std::size_t i = 0; i < names.size(); ++i)
    slices.push_back(read_slice(names[i], reader.pointer_to("list", i)));
  return slices;
}

SliceLengths one_cube(const CubeRule& rule) { return SliceLengths(rule.axes, rule.edge); }

CubeRule read_cubes(input::ObjectReader reader) {
  const SliceLengths cube =
      read_slice(reader.required("cube", "a cube such as \"4x4x4\""), reader.pointer_to("cube"));
  const CubeRule rule{.edge = cube.front(),
                      .axes = static_cast<std::uint32_t>(cube.size()),
                      .most_chips = static_cast<std::uint32_t>(
                          reader.integer("most_chips", 1, topology::kMaxChips))};
  reader.finish();
  const std::string name = topology::format_lengths(cube);
  if (cube != one_cube(rule))
    throw input::InputError(
        reader.pointer_to("cube"),
        fmt::format("{} is not a cube; all its axes must have one length", name));
  if (const std::uint32_t chips = topology::chip_count({cube, std::vector(cube.size(), false)});
      rule.most_chips < chips)
    throw input::InputError(
        reader.pointer_to("most_chips"),
        fmt::format("{} is less than one cube; write at least the {} chips of {}", rule.most_chips,
                    chips, name));
  return rule;
}

void read_wraparound(input::ObjectReader reader, Slices& slices) {
  input::Named{kWraparoundRules}.read(reader, "rule", slices.wraparound);
  if (slices.wraparound == WraparoundRule::axis_length)
    slices.wraparound_length =
        static_cast<std::uint32_t>(reader.integer("length", 1, kLongestAxisOfRule));
  if (slices.wraparound == WraparoundRule::whole_cubes && !slices.cubes)
    throw input::InputError(
        reader.pointer_to("rule"),
        "\"whole-cubes\" needs \"cubes\" in \"slices\"; give them, or use another rule");
  reader.finish();
}

}  // namespace

Slices read_slices(input::ObjectReader reader) {
  Slices slices;
  slices.list = read_list(reader);
  if (reader.has("cubes")) slices.cubes = read_cubes(reader.object("cubes"));
  read_wraparound(reader.object("wraparound"), slices);
  ProvenanceName{}.read(reader, "class", slices.provenance);
  slices.source = reader.text("source");
  reader.finish();
  return slices;
}

input::Json slices_json(const Slices& slices) {
  input::Json json = {{"list", input::Json::array()}};
  for (const SliceLengths& slice : slices.list)
    json["list"].push_back(topology::format_lengths(slice));
  if (slices.cubes)
    json["cubes"] = {{"cube", topology::format_lengths(one_cube(*slices.cubes))},
                     {"most_chips", slices.cubes->most_chips}};
  json["wraparound"] = {{"rule", hardware::name(slices.wraparound)}};
  if (slices.wraparound == WraparoundRule::axis_length)
    json["wraparound"]["length"] = slices.wraparound_length;
  json["class"] = hardware::name(slices.provenance);
  json["source"] = slices.source;
  return json;
}

std::string list_of_slices(const std::vector<SliceLengths>& slices) {
  std::vector<std::string> names;
  for (const SliceLengths& slice : slices) names.push_back(topology::format_lengths(slice));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return input::list_of(views);
}

std::string slices_text(const Slices& slices) {
  const std::string list = list_of_slices(slices.list);
  if (!slices.cubes) return list.empty() ? "none" : list;
  return fmt::format("{}{}whole {} cubes up to {} chips", list, list.empty() ? "" : ", and ",
                     topology::format_lengths(one_cube(*slices.cubes)), slices.cubes->most_chips);
}

std::string wraparound_text(const Slices& slices) {
  switch (slices.wraparound) {
    case WraparoundRule::never: return "no axis wraps around";
    case WraparoundRule::axis_length:
      return fmt::format("axes of length {} wrap around", slices.wraparound_length);
    case WraparoundRule::whole_cubes:
      return "every axis wraps around in slices of whole cubes, none in others";
  }
  throw std::logic_error("unknown wraparound rule");
}

namespace {

const input::Table<CubeRule>& cube_table() {
  constexpr std::string_view kMeaning = "a cube's axes; the largest slice";
  static const input::Table<CubeRule> table{
      {"cube", input::Elsewhere{lengths_schema}, kMeaning, input::kRequired},
      {"most_chips", input::Elsewhere{input::Integer{1, topology::kMaxChips}}, kMeaning,
       input::kRequired},
  };
  return table;
}

/// The rule, with a length if it needs one.
input::Json wraparound_schema() {
  using input::Elsewhere;
  constexpr std::string_view kMeaning =
      R"(`"never"`; `"axis-length"`: axes of `length`; `"whole-cubes"`: all axes of whole-cube slices)";
  static const input::Table<input::ReadElsewhere> other{
      {"rule", Elsewhere{R"({"enum": ["never", "whole-cubes"]})"}, kMeaning, input::kRequired}};
  static const input::Table<input::ReadElsewhere> by_length{
      {"rule", Elsewhere{R"({"enum": ["axis-length"]})"}, kMeaning, input::kRequired},
      {"length",
       Elsewhere{input::Integer{1, kLongestAxisOfRule}},
       "length of the axes that wrap around",
       {.is_required = true, .words = "required by `\"axis-length\"`"}}};
  return input::one_of({other.schema(), by_length.schema()});
}

}  // namespace

input::Json lengths_schema() {
  input::Json schema =
      input::schema_of(R"({"type": "string", "pattern": "^0*[1-9][0-9]*([xX*]0*[1-9][0-9]*)*$"})");
  schema[std::string(input::kDefinition)] = "lengths";
  return schema;
}

input::Json slices_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"list", Elsewhere{[] {
         return input::Json{{"type", "array"}, {"items", lengths_schema()}};
       }},
       "slices on offer, axes in any order; may be empty", input::kRequired},
      {"cubes", Elsewhere{input::Nested{cube_table}}, "also all slices of whole cubes"},
      {"wraparound", Elsewhere{wraparound_schema}, "", input::kRequired},
      {"class", Elsewhere{ProvenanceName{}}, "as of parameters", input::kRequired},
      {"source", Elsewhere{input::Text{}}, "as of parameters", input::kRequired},
  };
  return table.schema();
}

}  // namespace equarx::config
