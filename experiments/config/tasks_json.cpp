#include "experiments/config/tasks_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/collective_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/nearest.hpp"
#include "models/formats/block_format.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/units/quantity.hpp"

namespace equarx::config {
namespace {

using steps::CollectiveCall;
using steps::Computation;
using steps::HostTransfer;
using steps::Task;
using units::Dimension;

constexpr std::string_view kNumber = "{i}";  // of a repeated task, from 0
constexpr std::uint64_t kMostTasks = 100'000;
constexpr std::uint64_t kMostTaskElements = std::uint64_t{1} << 40;
constexpr std::array<std::string_view, 3> kKinds = {"compute", "collective", "host"};
constexpr input::EnumNames<HostTransfer::Direction, 2> kDirections({
    {HostTransfer::Direction::to_host, "to-host"},
    {HostTransfer::Direction::from_host, "from-host"},
});

/// What a list in JSON says of one task, or of several alike, before names are looked up.
struct Draft {
  Task task;
  std::string place;
  std::string stream;
  std::vector<std::string> after;
};

std::string numbered(std::string text, std::uint64_t number) {
  for (std::size_t at = text.find(kNumber); at != std::string::npos; at = text.find(kNumber))
    text.replace(at, kNumber.size(), fmt::format("{}", number));
  return text;
}

/// The name without its number: "bucket {i}" is of the group "bucket".
std::string group_of(const std::string& name) {
  std::string group = name;
  if (const std::size_t at = group.find(kNumber); at != std::string::npos)
    group.erase(at, kNumber.size());
  while (!group.empty() && group.back() == ' ') group.pop_back();
  return group.empty() ? name : group;
}

double quantity_or_zero(input::ObjectReader& reader, std::string_view key, Dimension dimension) {
  return reader.has(key) ? reader.quantity(key, dimension) : 0.0;
}

/// What the core does: a time, or what a time follows from.
Computation read_computation(input::ObjectReader reader) {
  Computation computation;
  if (reader.has("time")) {
    computation.seconds = reader.quantity("time", Dimension::time);
    reader.finish();
    return computation;
  }
  workloads::Operation operation{.name = "task", .kind = workloads::OperationKind::matrix};
  if (reader.has("flops")) operation.flops = reader.positive_number("flops");
  operation.products =
      input::choose(reader, "products", hardware::kMatrixTypes, hardware::MatrixType::bf16);
  if (reader.has("vector_ops")) operation.vector_ops = reader.positive_number("vector_ops");
  operation.read_bytes = quantity_or_zero(reader, "hbm_bytes", Dimension::bytes);
  if (!reader.flag_or("recomputed", false)) computation.model_flops = operation.flops;
  if (operation.flops + operation.vector_ops + operation.read_bytes <= 0.0)
    throw input::InputError(reader.place_of("flops"),
                            "nothing is computed; give a time, or flops, vector_ops or hbm_bytes");
  reader.finish();
  computation.operations = {operation};
  return computation;
}

std::vector<std::size_t> read_axes(input::ObjectReader& reader, const steps::Mesh& mesh) {
  std::vector<std::string_view> names;
  for (const steps::MeshAxis& axis : mesh.axes) names.push_back(axis.name);
  std::vector<std::size_t> axes;
  const input::Json& list = reader.array("axes");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}/{}", reader.place_of("axes"), i);
    if (!list[i].is_string()) throw input::InputError(place, "expected the name of a mesh axis");
    const auto name = list[i].get<std::string>();
    const std::optional<std::size_t> axis = mesh.find(name);
    if (!axis)
      throw input::InputError(place, fmt::format("the mesh has no axis '{}'; {}", name,
                                                 input::remedy_of_all(name, names)));
    if (std::ranges::find(axes, *axis) != axes.end())
      throw input::InputError(place, fmt::format("'{}' is there already; remove it", name));
    axes.push_back(*axis);
  }
  std::ranges::sort(axes);
  if (mesh.group_size(axes) < 2)
    throw input::InputError(reader.place_of("axes"),
                            "a collective needs groups of two chips or more; name longer axes");
  return axes;
}

CollectiveCall read_call(input::ObjectReader reader, const steps::Mesh& mesh) {
  CollectiveCall call;
  call.collective = read_collective_name(reader, "kind");
  call.axes = read_axes(reader, mesh);
  call.dtype =
      input::choose(reader, "dtype", numerics::kTensorFormats, numerics::ElementFormat::bf16);
  const double bytes = reader.quantity("bytes", Dimension::bytes);
  const double elements = bytes * 8.0 / numerics::element_bits(call.dtype);
  if (!(elements >= 1.0 && elements <= static_cast<double>(kMostTaskElements)))
    throw input::InputError(reader.place_of("bytes"),
                            fmt::format("{} are {} elements of {}; from 1 to {} can be simulated",
                                        units::bytes_text(bytes), elements,
                                        numerics::name(call.dtype), kMostTaskElements));
  if (elements != std::floor(elements))
    throw input::InputError(reader.place_of("bytes"),
                            fmt::format("{} is not a whole number of elements of {}",
                                        units::bytes_text(bytes), numerics::name(call.dtype)));
  call.elements = static_cast<std::uint64_t>(elements);
  reader.finish();
  return call;
}

HostTransfer read_transfer(input::ObjectReader reader) {
  HostTransfer transfer{.direction = reader.choice("direction", kDirections),
                        .bytes = reader.quantity("bytes", Dimension::bytes)};
  if (!(transfer.bytes > 0.0))
    throw input::InputError(reader.place_of("bytes"), "nothing is moved; give more than 0 B");
  reader.finish();
  return transfer;
}

/// Where tasks go that name no stream: the core's, one for each set of axes, and one for each way to the host.
std::string usual_stream(const Task& task, const steps::Mesh& mesh) {
  if (const auto* transfer = std::get_if<HostTransfer>(&task.work))
    return std::string(kDirections[transfer->direction]);
  const auto* call = std::get_if<CollectiveCall>(&task.work);
  if (call == nullptr) return "core";
  std::vector<std::string> names;
  for (const std::size_t axis : call->axes) names.push_back(mesh.axes[axis].name);
  return fmt::format("{}", fmt::join(names, "+"));
}

std::vector<std::string> read_after(input::ObjectReader& reader) {
  std::vector<std::string> after;
  if (!reader.has("after")) return after;
  const input::Json& list = reader.array("after");
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string())
      throw input::InputError(fmt::format("{}/{}", reader.place_of("after"), i),
                              "expected the name of a task");
    after.push_back(list[i].get<std::string>());
  }
  return after;
}

/// Appends the tasks that an object stands for.
void read_task(const input::Json& json, const std::string& place, const steps::Mesh& mesh,
               std::vector<Draft>& drafts) {
  input::ObjectReader reader(json, place);
  Draft draft{.task = {}, .place = place, .stream = {}, .after = {}};
  const std::string name = reader.text("name", "a name, like \"forward {i}\"");
  draft.task.group = reader.has("group") ? reader.text("group") : group_of(name);
  const std::string_view kind = input::exactly_one(reader, kKinds, place);
  if (kind.empty())
    throw input::InputError(place,
                            "does nothing; give one of \"compute\", \"collective\" and \"host\"");
  if (kind == "compute") draft.task.work = read_computation(reader.object(kind));
  if (kind == "collective") draft.task.work = read_call(reader.object(kind), mesh);
  if (kind == "host") draft.task.work = read_transfer(reader.object(kind));
  draft.stream = reader.has("stream") ? reader.text("stream") : usual_stream(draft.task, mesh);
  const std::vector<std::string> after = read_after(reader);
  const std::uint64_t times = reader.has("repeat") ? reader.integer("repeat", 1, kMostTasks) : 1;
  if (times > 1 && name.find(kNumber) == std::string::npos)
    throw input::InputError(
        reader.place_of("name"),
        fmt::format("'{0}' would be the name of {1} tasks; write \"{0} {{i}}\"", name, times));
  reader.finish();
  if (drafts.size() + times > kMostTasks)
    throw input::InputError(place, fmt::format("these are more than {} tasks", kMostTasks));
  for (std::uint64_t number = 0; number < times; ++number) {
    Draft& one = drafts.emplace_back(draft);
    one.task.name = numbered(name, number);
    for (const std::string& before : after) one.after.push_back(numbered(before, number));
  }
}

/// Puts numbers in the place of names.
steps::StepGraph resolve(std::vector<Draft> drafts) {
  std::map<std::string_view, steps::TaskId> ids;
  std::vector<std::string_view> names;
  for (const Draft& draft : drafts) {
    ids.emplace(draft.task.name, static_cast<steps::TaskId>(names.size()));
    names.push_back(draft.task.name);
  }
  steps::StepGraph graph;
  for (Draft& draft : drafts) {
    draft.task.stream = steps::stream_id(graph, draft.stream);
    for (const std::string& before : draft.after) {
      const auto known = ids.find(before);
      if (known == ids.end())
        throw input::InputError(
            draft.place + "/after",
            fmt::format("there is no task '{}'; {}", before, input::remedy(before, names)));
      draft.task.after.push_back(known->second);
    }
  }
  for (const Draft& draft : drafts) graph.tasks.push_back(draft.task);
  return graph;
}

input::Json computation_json(const Computation& computation) {
  if (computation.operations.empty())
    return {{"time", units::format(computation.seconds, Dimension::time)}};
  const workloads::Operation& operation = computation.operations.front();
  input::Json json = input::Json::object();
  if (operation.flops > 0.0) {
    json["flops"] = operation.flops;
    json["products"] = hardware::name(operation.products);
    json["recomputed"] = computation.model_flops == 0.0;
  }
  if (operation.vector_ops > 0.0) json["vector_ops"] = operation.vector_ops;
  if (operation.hbm_bytes() > 0.0)
    json["hbm_bytes"] = units::format(operation.hbm_bytes(), Dimension::bytes);
  return json;
}

input::Json call_json(const CollectiveCall& call, const steps::Mesh& mesh) {
  input::Json axes = input::Json::array();
  for (const std::size_t axis : call.axes) axes.push_back(mesh.axes[axis].name);
  const double bytes = static_cast<double>(call.elements) * numerics::element_bits(call.dtype) / 8;
  return {{"kind", collective_key(call.collective)},
          {"axes", axes},
          {"bytes", units::format(bytes, Dimension::bytes)},
          {"dtype", numerics::name(call.dtype)}};
}

}  // namespace

steps::StepGraph read_tasks(const input::Json& list, const std::string& place,
                            const steps::Mesh& mesh) {
  if (list.empty()) throw input::InputError(place, "is empty; a step has a task at least");
  std::vector<Draft> drafts;
  for (std::size_t i = 0; i < list.size(); ++i)
    read_task(list[i], fmt::format("{}/{}", place, i), mesh, drafts);
  std::vector<std::string> places;
  for (const Draft& draft : drafts) places.push_back(draft.place);
  steps::StepGraph graph = resolve(std::move(drafts));
  try {
    validate(graph);
  } catch (const steps::StepError& error) {
    throw input::InputError(places[error.task()], error.what());
  }
  return graph;
}

input::Json tasks_json(const steps::StepGraph& graph, const steps::Mesh& mesh) {
  input::Json list = input::Json::array();
  for (const Task& task : graph.tasks) {
    input::Json json = {
        {"name", task.name}, {"group", task.group}, {"stream", graph.streams[task.stream]}};
    if (const auto* computation = std::get_if<Computation>(&task.work))
      json["compute"] = computation_json(*computation);
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      json["collective"] = call_json(*call, mesh);
    if (const auto* transfer = std::get_if<HostTransfer>(&task.work))
      json["host"] = {{"direction", kDirections[transfer->direction]},
                      {"bytes", units::format(transfer->bytes, Dimension::bytes)}};
    input::Json after = input::Json::array();
    for (const steps::TaskId before : task.after) after.push_back(graph.tasks[before].name);
    json["after"] = after;
    list.push_back(json);
  }
  return list;
}

}  // namespace equarx::config
