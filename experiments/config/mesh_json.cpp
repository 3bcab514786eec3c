#include "experiments/config/mesh_json.hpp"

#include <utility>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/step.hpp"

namespace equarx::config {
namespace {

constexpr std::uint64_t kLongestAxis = 1 << 24;

std::vector<std::size_t> read_machine_axes(const input::Json& list, const std::string& pointer,
                                           std::size_t machine_axes) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < list.size(); ++i)
    axes.push_back(input::read_integer(list[i], input::pointer(pointer, i), 0, machine_axes - 1));
  return axes;
}

/// Reads the length of an axis: a number, or the "length" of an object.
steps::MeshAxis read_length(input::ObjectReader& mesh, const std::string& name) {
  const std::uint64_t length = mesh.required(name, "a length").is_object()
                                   ? mesh.object(name).integer("length", 1, kLongestAxis)
                                   : mesh.integer(name, 1, kLongestAxis);
  return {.name = name, .length = static_cast<std::uint32_t>(length)};
}

/// Reads the machine axes of a mesh axis; empty if absent.
std::vector<std::size_t> read_mapped_axes(input::ObjectReader& mesh, const std::string& name,
                                          std::size_t machine_axes) {
  std::vector<std::size_t> axes;
  if (!mesh.required(name, "a length").is_object()) return axes;
  input::ObjectReader reader = mesh.object(name);
  reader.required("length", "a length");
  if (reader.has("axes"))
    axes = read_machine_axes(reader.array("axes"), reader.pointer_to("axes"), machine_axes);
  reader.finish();
  return axes;
}

}  // namespace

steps::Mesh read_mesh(const input::Json& json, const TopologyConfig& topology) {
  const std::string pointer = "/mesh";
  input::ObjectReader reader(json, pointer);
  std::vector<steps::MeshAxis> axes;
  for (const auto& [name, value] : json.items()) axes.push_back(read_length(reader, name));
  if (axes.empty())
    throw input::InputError(pointer, "is empty; name at least one axis, like {\"fsdp\": 16}");
  std::vector<std::uint32_t> lengths;
  for (const steps::MeshAxis& axis : axes) lengths.push_back(axis.length);
  std::vector<std::uint32_t> machine = machine_axes(topology, lengths);
  for (steps::MeshAxis& axis : axes)
    axis.machine_axes = read_mapped_axes(reader, axis.name, machine.size());
  return input::at(pointer, [&] { return steps::lay_mesh(std::move(machine), std::move(axes)); });
}

input::Json mesh_json(const steps::Mesh& mesh) {
  input::Json json = input::Json::object();
  for (const steps::MeshAxis& axis : mesh.axes)
    json[axis.name] = {{"length", axis.length}, {"axes", axis.machine_axes}};
  return json;
}

namespace {

/// The length of an axis, or an object with it.
input::Json axis_schema() {
  constexpr input::Integer kLength{1, kLongestAxis};
  static const input::Table<input::ReadElsewhere> table{
      {"length", input::Elsewhere{kLength}, "length of an axis given as an object",
       input::kRequired},
      {"axes", input::Elsewhere{R"({"type": "array", "items": {"type": "integer", "minimum": 0}})"},
       "machine axes, from 0; with a `network` axis 0 is the slices",
       input::otherwise("the first that fit")},
  };
  return input::one_of({kLength.schema(), table.schema()});
}

}  // namespace

input::Json mesh_schema() {
  static const input::Table<input::ReadElsewhere> table{{{"*", input::Elsewhere{axis_schema}, ""}},
                                                        {.rules = R"({"minProperties": 1})"}};
  return table.schema();
}

}  // namespace equarx::config
