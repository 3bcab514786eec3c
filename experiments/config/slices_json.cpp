#include "experiments/config/slices_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "experiments/config/parameter_json.hpp"
#include "topologies/grid.hpp"

namespace equarx::config {
namespace {

using hardware::CubeRule;
using hardware::SliceLengths;
using hardware::Slices;
using hardware::WraparoundRule;

constexpr std::array kWraparoundRules = {WraparoundRule::never, WraparoundRule::axis_length,
                                         WraparoundRule::whole_cubes};

SliceLengths read_slice(const input::Json& json, const std::string& pointer) {
  if (!json.is_string()) throw input::InputError(pointer, "expected a slice such as \"4x4\"");
  return input::at(pointer, [&] { return topology::parse_lengths(json.get<std::string>()); });
}

/// Individual slices by name.
struct SliceList {
  void read(input::ObjectReader& reader, std::string_view key,
            std::vector<SliceLengths>& slices) const {
    const input::Json& names = reader.array(key);
    for (std::size_t i = 0; i < names.size(); ++i)
      slices.push_back(read_slice(names[i], reader.pointer_to(key, i)));
  }
  input::Json write(const std::vector<SliceLengths>& slices) const {
    input::Json names = input::Json::array();
    for (const SliceLengths& slice : slices) names.push_back(topology::format_lengths(slice));
    return names;
  }
  input::Json schema() const { return {{"type", "array"}, {"items", lengths_schema()}}; }
};

SliceLengths one_cube(const CubeRule& rule) { return SliceLengths(rule.axes, rule.edge); }

/// A cube by its axes.
struct Cube {
  void read(input::ObjectReader& reader, std::string_view key, CubeRule& rule) const {
    const SliceLengths cube =
        read_slice(reader.required(key, "a cube such as \"4x4x4\""), reader.pointer_to(key));
    rule.edge = cube.front();
    rule.axes = static_cast<std::uint32_t>(cube.size());
    if (cube != one_cube(rule))
      throw input::InputError(reader.pointer_to(key),
                              fmt::format("{} is not a cube; all its axes must have one length",
                                          topology::format_lengths(cube)));
  }
  void write(const CubeRule& rule, std::string_view key, input::Json& json) const {
    json[std::string(key)] = topology::format_lengths(one_cube(rule));
  }
  input::Json schema() const { return lengths_schema(); }
};

/// Chips of the largest slice: at least one cube.
struct MostChips : input::Integer {
  MostChips() : Integer{1, topology::kMaxChips} {}
  void read(input::ObjectReader& reader, std::string_view key, CubeRule& rule) const {
    Integer::read(reader, key, rule.most_chips);
    const SliceLengths cube = one_cube(rule);
    const std::uint32_t chips = topology::chip_count({cube, std::vector(cube.size(), false)});
    if (rule.most_chips < chips)
      throw input::InputError(
          reader.pointer_to(key),
          fmt::format("{} is less than one cube; write at least the {} chips of {}",
                      rule.most_chips, chips, topology::format_lengths(cube)));
  }
  void write(const CubeRule& rule, std::string_view key, input::Json& json) const {
    json[std::string(key)] = rule.most_chips;
  }
};

const input::Table<CubeRule>& cube_table() {
  constexpr std::string_view kMeaning = "a cube's axes; the largest slice";
  static const input::Table<CubeRule> table{
      {"cube", Cube{}, kMeaning, input::kRequired},
      {"most_chips", MostChips{}, kMeaning, input::kRequired},
  };
  return table;
}

/// The rule for wraparound, with a length if it needs one.
struct Wraparound {
  static constexpr input::Integer kLength{1, std::numeric_limits<std::uint32_t>::max()};

  void read(input::ObjectReader& slices_reader, std::string_view key, Slices& slices) const {
    input::ObjectReader reader = slices_reader.object(key);
    input::Named{kWraparoundRules}.read(reader, "rule", slices.wraparound);
    if (slices.wraparound == WraparoundRule::axis_length)
      kLength.read(reader, "length", slices.wraparound_length);
    if (slices.wraparound == WraparoundRule::whole_cubes && !slices.cubes)
      throw input::InputError(
          reader.pointer_to("rule"),
          "\"whole-cubes\" needs \"cubes\" in \"slices\"; give them, or use another rule");
    reader.finish();
  }
  void write(const Slices& slices, std::string_view key, input::Json& json) const {
    input::Json& rule = json[std::string(key)];
    rule = {{"rule", hardware::name(slices.wraparound)}};
    if (slices.wraparound == WraparoundRule::axis_length) rule["length"] = slices.wraparound_length;
  }
  input::Json schema() const {
    using input::Elsewhere, input::kRequired;
    constexpr std::string_view kMeaning =
        "`\"never\"`; `\"axis-length\"`: axes of `length`; `\"whole-cubes\"`: all axes of "
        "whole-cube slices";
    static const input::Table<input::ReadElsewhere> other{
        {"rule", Elsewhere{R"({"enum": ["never", "whole-cubes"]})"}, kMeaning, kRequired}};
    static const input::Table<input::ReadElsewhere> by_length{
        {"rule", Elsewhere{R"({"enum": ["axis-length"]})"}, kMeaning, kRequired},
        {"length",
         Elsewhere{kLength},
         "length of the axes that wrap around",
         {.is_required = true, .words = "required by `\"axis-length\"`"}}};
    return input::one_of({other.schema(), by_length.schema()});
  }
};

const input::Table<Slices>& slices_table() {
  using input::kRequired;
  static const input::Table<Slices> table{
      {"list", &Slices::list, SliceList{}, "slices on offer, axes in any order; may be empty",
       kRequired},
      {"cubes", &Slices::cubes, input::Nested{cube_table}, "also all slices of whole cubes"},
      {"wraparound", Wraparound{}, "", kRequired},
      {"class", &Slices::provenance, ProvenanceName{}, "as of parameters", kRequired},
      {"source", &Slices::source, input::Text{}, "as of parameters", kRequired},
  };
  return table;
}

}  // namespace

Slices read_slices(input::ObjectReader reader) {
  return slices_table().read_all(std::move(reader));
}

input::Json slices_json(const Slices& slices) { return slices_table().write(slices); }

input::Json slices_schema() { return slices_table().schema(); }

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

input::Json lengths_schema() {
  input::Json schema =
      input::schema_of(R"({"type": "string", "pattern": "^0*[1-9][0-9]*([xX*]0*[1-9][0-9]*)*$"})");
  schema[std::string(input::kDefinition)] = "lengths";
  return schema;
}

}  // namespace equarx::config
