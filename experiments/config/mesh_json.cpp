#include "experiments/config/mesh_json.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/group_topology.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {
namespace {

constexpr std::uint64_t kLongestAxis = 1 << 24;

constexpr const char* kOrder = "order";
constexpr std::array<std::string_view, 2> kOrders = {"jax", "machine"};

/// Parts of machine axes as written: a number is a whole axis.
struct WrittenPart {
  std::size_t axis = 0;
  std::optional<std::uint32_t> length;
};
using WrittenParts = std::vector<WrittenPart>;

/// Reads 1 or [1, 2]: the second axis, or a part of it with 2 chips.
WrittenPart read_part(const input::Json& json, const std::string& pointer,
                      std::size_t machine_axes) {
  const auto axis = [&](const input::Json& number, const std::string& place) {
    return static_cast<std::size_t>(input::read_integer(number, place, 0, machine_axes - 1));
  };
  if (!json.is_array()) return {axis(json, pointer), {}};
  if (json.size() != 2)
    throw input::InputError(pointer, "expected a machine axis, or a part of one as [axis, length]");
  return {axis(json[0], input::pointer(pointer, 0)),
          static_cast<std::uint32_t>(
              input::read_integer(json[1], input::pointer(pointer, 1), 1, kLongestAxis))};
}

/// Reads the length of an axis: a number, or the "length" of an object.
steps::MeshAxis read_length(input::ObjectReader& mesh, const std::string& name) {
  const std::uint64_t length = mesh.required(name, "a length").is_object()
                                   ? mesh.object(name).integer("length", 1, kLongestAxis)
                                   : mesh.integer(name, 1, kLongestAxis);
  return {.name = name, .length = static_cast<std::uint32_t>(length)};
}

/// Reads the machine axes of a mesh axis; empty if absent.
WrittenParts read_mapped_axes(input::ObjectReader& mesh, const std::string& name,
                              std::size_t machine_axes) {
  WrittenParts parts;
  if (!mesh.required(name, "a length").is_object()) return parts;
  input::ObjectReader reader = mesh.object(name);
  reader.required("length", "a length");
  if (reader.has("axes")) {
    const input::Json& list = reader.array("axes");
    for (std::size_t i = 0; i < list.size(); ++i)
      parts.push_back(read_part(list[i], reader.pointer_to("axes", i), machine_axes));
  }
  reader.finish();
  return parts;
}

/// True if "order" is the order of the chips, not an axis of this name.
bool is_order(const input::Json& value) { return value.is_string() || value.is_array(); }

/// Order of the chips as the user wrote it.
struct WrittenOrder {
  steps::DeviceOrder order = steps::DeviceOrder::jax;
  std::vector<std::uint32_t> chips = {};  ///< empty if named
};

WrittenOrder read_order(input::ObjectReader& reader, const input::Json& json, std::uint32_t chips) {
  WrittenOrder written;
  if (!json.contains(kOrder) || !is_order(json[kOrder])) return written;
  if (json[kOrder].is_string()) {
    written.order =
        reader.choice(kOrder, kOrders) == 0 ? steps::DeviceOrder::jax : steps::DeviceOrder::machine;
    return written;
  }
  const input::Json& list = reader.array(kOrder);
  for (std::size_t i = 0; i < list.size(); ++i)
    written.chips.push_back(static_cast<std::uint32_t>(
        input::read_integer(list[i], reader.pointer_to(kOrder, i), 0, chips - 1)));
  return written;
}

bool has_part(const WrittenParts& parts) {
  return std::ranges::any_of(parts,
                             [](const WrittenPart& part) { return part.length.has_value(); });
}

/// Lays a mesh with at least one divided axis; the user gives the parts of all axes.
steps::Mesh lay_written(const std::vector<std::uint32_t>& machine,
                        std::vector<steps::MeshAxis> axes,
                        const std::vector<WrittenParts>& written) {
  std::vector<std::vector<steps::AxisPart>> parts;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (written[i].empty() && axes[i].length > 1)
      throw std::invalid_argument(fmt::format(
          "'{}' has no \"axes\", but another axis covers a part of a machine axis; give "
          "the axes of all, or of none",
          axes[i].name));
    auto& of_axis = parts.emplace_back();
    for (const WrittenPart& part : written[i])
      of_axis.push_back(
          {part.axis, part.length.value_or(part.axis < machine.size() ? machine[part.axis] : 1)});
  }
  return steps::lay_parts(machine, std::move(axes), parts);
}

}  // namespace

steps::Mesh lay_on(const TopologyConfig& topology, std::vector<steps::MeshAxis> axes,
                   steps::DeviceOrder order) {
  const bool is_explicit = std::ranges::any_of(
      axes, [](const steps::MeshAxis& axis) { return !axis.machine_axes.empty(); });
  std::vector<std::uint32_t> lengths;
  for (const steps::MeshAxis& axis : axes) lengths.push_back(axis.length);
  const std::vector<std::uint32_t> divided = machine_axes(topology, lengths);
  const steps::LayoutRules rules{
      .order = order, .has_network = topology.network.has_value(), .is_grid = is_grid(topology)};
  if (is_explicit) return steps::lay_mesh(divided, std::move(axes), rules);
  if (order == steps::DeviceOrder::jax)
    if (std::optional<steps::Mesh> whole = steps::lay_whole(divided, axes)) return *whole;
  return steps::lay_mesh(machine_axes(topology, {}), std::move(axes), rules);
}

steps::Mesh read_mesh(const input::Json& json, const TopologyConfig& topology) {
  const std::string pointer = "/mesh";
  input::ObjectReader reader(json, pointer);
  const WrittenOrder order = read_order(reader, json, count_chips(topology));
  std::vector<steps::MeshAxis> axes;
  for (const auto& [name, value] : json.items())
    if (name != kOrder || !is_order(value)) axes.push_back(read_length(reader, name));
  if (axes.empty())
    throw input::InputError(pointer, "is empty; name at least one axis, like {\"fsdp\": 16}");
  std::vector<std::uint32_t> lengths;
  for (const steps::MeshAxis& axis : axes) lengths.push_back(axis.length);
  const std::vector<std::uint32_t> undivided = machine_axes(topology, {});
  const std::size_t most_axes = std::max(machine_axes(topology, lengths).size(), undivided.size());
  std::vector<WrittenParts> parts;
  for (const steps::MeshAxis& axis : axes)
    parts.push_back(read_mapped_axes(reader, axis.name, most_axes));
  return input::at(pointer, [&] {
    if (!order.chips.empty()) return steps::lay_in_order(undivided, std::move(axes), order.chips);
    if (std::ranges::any_of(parts, has_part)) return lay_written(undivided, std::move(axes), parts);
    for (std::size_t i = 0; i < axes.size(); ++i)
      for (const WrittenPart& part : parts[i]) axes[i].machine_axes.push_back(part.axis);
    return lay_on(topology, std::move(axes), order.order);
  });
}

input::Json mesh_json(const steps::Mesh& mesh) {
  input::Json json = input::Json::object();
  const std::vector<std::uint32_t> whole = mesh.whole_axes();
  for (const steps::MeshAxis& axis : mesh.axes) {
    json[axis.name] = {{"length", axis.length}};
    if (!mesh.order.empty()) continue;
    input::Json& parts = json[axis.name]["axes"] = input::Json::array();
    for (const std::size_t part : axis.machine_axes) {
      const std::size_t of = mesh.axis_of(part);
      if (mesh.machine[part] == whole[of])
        parts.push_back(of);
      else
        parts.push_back({of, mesh.machine[part]});
    }
  }
  if (!mesh.order.empty()) json[kOrder] = mesh.order;
  return json;
}

namespace {

/// The length of an axis, or an object with it.
input::Json axis_schema() {
  constexpr input::Integer kLength{1, kLongestAxis};
  static const input::Table<input::ReadElsewhere> table{
      {"length", input::Elsewhere{kLength}, "length of an axis given as an object",
       input::kRequired},
      {"axes", input::Elsewhere{R"({"type": "array", "items": {"oneOf": [
           {"type": "integer", "minimum": 0},
           {"type": "array", "minItems": 2, "maxItems": 2,
            "items": {"type": "integer", "minimum": 0}}]}})"},
       "machine axes, from 0, or parts of them as `[axis, length]`; with a `network` axis 0 is the "
       "slices",
       input::otherwise("the first that fit")},
  };
  return input::one_of({kLength.schema(), table.schema()});
}

/// The order of the chips; or an axis of this name.
input::Json order_schema() {
  return input::one_of({input::Json::parse(R"({"enum": ["jax", "machine"]})"),
                        input::Json::parse(R"({"type": "array", "items": {"type": "integer",
                                               "minimum": 0}})"),
                        axis_schema()});
}

}  // namespace

input::Json mesh_schema() {
  static const input::Table<input::ReadElsewhere> table{
      {{"order", input::Elsewhere{order_schema},
        "`\"jax\"`, `\"machine\"` (position i is chip i), or the chip of each position",
        input::by_default(R"("jax")")},
       {"*", input::Elsewhere{axis_schema}, ""}},
      {.rules = R"({"minProperties": 1})"}};
  return table.schema();
}

}  // namespace equarx::config
