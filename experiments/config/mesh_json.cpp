#include "experiments/config/mesh_json.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

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

steps::MeshAxis read_axis(input::ObjectReader& mesh, const std::string& name,
                          std::size_t machine_axes) {
  steps::MeshAxis axis{.name = name};
  if (!mesh.required(name, "a length").is_object()) {
    axis.length = static_cast<std::uint32_t>(mesh.integer(name, 1, kLongestAxis));
    return axis;
  }
  input::ObjectReader reader = mesh.object(name);
  axis.length = static_cast<std::uint32_t>(reader.integer("length", 1, kLongestAxis));
  if (reader.has("axes"))
    axis.machine_axes =
        read_machine_axes(reader.array("axes"), reader.place_of("axes"), machine_axes);
  reader.finish();
  return axis;
}

}  // namespace

steps::Mesh read_mesh(const input::Json& json, const std::vector<std::uint32_t>& machine) {
  const std::string place = "/mesh";
  input::ObjectReader reader(json, place);
  std::vector<steps::MeshAxis> axes;
  for (const auto& [name, value] : json.items())
    axes.push_back(read_axis(reader, name, machine.size()));
  if (axes.empty())
    throw input::InputError(place, "is empty; name at least one axis, like {\"fsdp\": 16}");
  try {
    return steps::lay_mesh(machine, std::move(axes));
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
