#include "experiments/config/mesh_json.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/step.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"

namespace equarx::config {
namespace {

constexpr std::uint64_t kLongestAxis = 1 << 24;

std::vector<std::size_t> read_machine_axes(const input::Json& list, const std::string& place,
                                           std::size_t machine_axes) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < list.size(); ++i)
    axes.push_back(
        input::read_integer(list[i], fmt::format("{}/{}", place, i), 0, machine_axes - 1));
  return axes;
}

/// An axis by its name and length: a number, or an object that also says where it lies.
steps::MeshAxis read_length(input::ObjectReader& mesh, const std::string& name) {
  const std::uint64_t length = mesh.required(name, "a length").is_object()
                                   ? mesh.object(name).integer("length", 1, kLongestAxis)
                                   : mesh.integer(name, 1, kLongestAxis);
  return {.name = name, .length = static_cast<std::uint32_t>(length)};
}

/// Where the axis of that name lies; nothing if it does not say so.
std::vector<std::size_t> read_place(input::ObjectReader& mesh, const std::string& name,
                                    std::size_t machine_axes) {
  std::vector<std::size_t> axes;
  if (!mesh.required(name, "a length").is_object()) return axes;
  input::ObjectReader reader = mesh.object(name);
  reader.required("length", "a length");
  if (reader.has("axes"))
    axes = read_machine_axes(reader.array("axes"), reader.place_of("axes"), machine_axes);
  reader.finish();
  return axes;
}

}  // namespace

steps::Mesh read_mesh(const input::Json& json, const TopologyConfig& topology) {
  const std::string place = "/mesh";
  input::ObjectReader reader(json, place);
  std::vector<steps::MeshAxis> axes;
  for (const auto& [name, value] : json.items()) axes.push_back(read_length(reader, name));
  if (axes.empty())
    throw input::InputError(place, "is empty; name at least one axis, like {\"fsdp\": 16}");
  std::vector<std::uint32_t> lengths;
  for (const steps::MeshAxis& axis : axes) lengths.push_back(axis.length);
  std::vector<std::uint32_t> machine = machine_axes(topology, lengths);
  for (steps::MeshAxis& axis : axes)
    axis.machine_axes = read_place(reader, axis.name, machine.size());
  try {
    return steps::lay_mesh(std::move(machine), std::move(axes));
  } catch (const std::invalid_argument& error) {
    throw input::InputError(place, error.what());
  }
}

input::Json mesh_json(const steps::Mesh& mesh) {
  input::Json json = input::Json::object();
  for (const steps::MeshAxis& axis : mesh.axes)
    json[axis.name] = {{"length", axis.length}, {"axes", axis.machine_axes}};
  return json;
}

}  // namespace equarx::config
