#include "experiments/config/tasks_json.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/communication_json.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/steps/chip_lists.hpp"
#include "models/steps/roles.hpp"

namespace equarx::config {
namespace {

using steps::CollectiveCall;
using steps::Computation;
using steps::HostTransfer;
using steps::Task;
using units::Dimension;

constexpr std::string_view kIndex = "{i}";  // index of a repeated task, from 0
constexpr std::uint64_t kMostTasks = 100'000;
constexpr std::uint64_t kMostTimes = std::uint64_t{1} << 40;
constexpr std::array<std::string_view, 5> kTaskKinds = {"compute", "collective", "permute",
                                                        "receive", "host"};
constexpr input::EnumNames<HostTransfer::Direction, 2> kDirections({
    {HostTransfer::Direction::to_host, "to-host"},
    {HostTransfer::Direction::from_host, "from-host"},
});

constexpr input::Texts kTaskNames{"the name of a task"};

/// Computations by name.
using NamedComputations = std::map<std::string, Computation>;

/// A task before its references are resolved.
struct Draft {
  Task task;
  std::string pointer;
  std::string stream;
  std::vector<std::string> after;
  std::string receives = {};  ///< name of the permute whose messages it awaits
};

std::string numbered(std::string text, std::uint64_t number) {
  for (std::size_t at = text.find(kIndex); at != std::string::npos; at = text.find(kIndex))
    text.replace(at, kIndex.size(), fmt::format("{}", number));
  return text;
}

/// The name without its index: "bucket {i}" belongs to the group "bucket".
std::string group_of(const std::string& name) {
  std::string group = name;
  if (const std::size_t at = group.find(kIndex); at != std::string::npos)
    group.erase(at, kIndex.size());
  while (!group.empty() && group.back() == ' ') group.pop_back();
  return group.empty() ? name : group;
}

const input::Table<workloads::Operation>& operation_table() {
  using input::Elsewhere, input::Positive, input::Quantity, workloads::Operation;
  static const input::Table<Operation> table{
      {{"flops", &Operation::flops, Positive{}, "of GEMMs, per chip", input::otherwise("none")},
       {"products", &Operation::products, input::Named{hardware::kNumberTypes},
        R"(GEMM type: `"bf16"`, `"fp32"`, `"int8"`, `"fp8"`, `"fp4"`)"},
       {"recomputed", Elsewhere{input::Flag{}}, "excluded from MFU", input::by_default("false")},
       {"vector_ops", &Operation::vector_ops, Positive{}, "on FP32 lanes",
        input::otherwise("none")},
       {"comparisons", &Operation::comparisons, Positive{}, "of sorts", input::otherwise("none")},
       {"kernel", &Operation::kernel, input::Named{workloads::kKernels},
        R"(`"usual"`, `"convolution"`, `"attention"`, `"attention-backward"`, `"amax"`)"},
       {"attention_rows", &Operation::attention_rows, Positive{},
        "query rows of all heads, times products per score / 2", input::otherwise("none")},
       {"hbm_bytes", &Operation::read_bytes, Quantity{Dimension::bytes},
        "read and written: `\"1 GiB\"`", input::otherwise("none")},
       {"times", &Operation::times, input::Integer{1, kMostTimes},
        "sequential executions of the above"},
       {"time", Elsewhere{Quantity{Dimension::time}}, "given instead: `\"1.5 ms\"`",
        input::otherwise("from the above")}},
      {.definition = "operation"}};
  return table;
}

/// Adds an operation: a time, or the work that determines it.
void read_operation(input::ObjectReader reader, Computation& computation) {
  if (reader.has("time")) {
    // Rounded as written, so that reading the resolved configuration gives the same sum, bit for
    // bit.
    const double sum_s = computation.seconds + reader.quantity("time", Dimension::time);
    computation.seconds = units::parse(units::format(sum_s, Dimension::time), Dimension::time);
    return reader.finish();
  }
  workloads::Operation operation{.name = "task", .kind = workloads::OperationKind::matrix};
  operation_table().read(reader, operation);
  if (!reader.flag_or("recomputed", false))
    computation.model_flops += operation.flops * static_cast<double>(operation.times);
  if (operation.flops + operation.vector_ops + operation.comparisons + operation.read_bytes <= 0.0)
    throw input::InputError(
        reader.pointer_to("flops"),
        "has no work; give a time, or flops, vector_ops, comparisons or hbm_bytes");
  reader.finish();
  computation.operations.push_back(operation);
}

/// Reads an operation or a list of operations.
Computation read_operations(const input::Json& json, const std::string& pointer) {
  Computation computation;
  if (!json.is_array()) {
    read_operation(input::ObjectReader(json, pointer), computation);
    return computation;
  }
  if (json.empty())
    throw input::InputError(pointer,
                            "is empty; give at least one operation, like {\"flops\": 1e12}");
  for (std::size_t i = 0; i < json.size(); ++i)
    read_operation(input::ObjectReader(json[i], input::pointer(pointer, i)), computation);
  return computation;
}

/// Reads a computation, or looks it up by name.
Computation read_computation(const input::Json& json, const std::string& pointer,
                             const NamedComputations& named) {
  if (!json.is_string()) return read_operations(json, pointer);
  const auto name = json.get<std::string>();
  const auto known = named.find(name);
  if (known != named.end()) return known->second;
  std::vector<std::string_view> names;
  for (const auto& [other, computation] : named) names.push_back(other);
  throw input::InputError(pointer, fmt::format("\"computations\" of the step have no '{}'; {}",
                                               name, input::remedy(name, names)));
}

/// A number of bytes above 0.
struct SomeBytes : input::Quantity {
  SomeBytes() : Quantity{Dimension::bytes} {}
  void read(input::ObjectReader& reader, std::string_view key, double& bytes) const {
    Quantity::read(reader, key, bytes);
    if (!(bytes > 0.0)) throw input::InputError(reader.pointer_to(key), "must be above 0 B");
  }
};

const input::Table<HostTransfer>& host_transfer_table() {
  static const input::Table<HostTransfer> table{
      {"direction", &HostTransfer::direction, input::OneOf{kDirections},
       R"(`"to-host"` or `"from-host"`, at the chip's `host_bandwidth`)", input::kRequired},
      {"bytes", &HostTransfer::bytes, SomeBytes{}, "per chip", input::kRequired},
  };
  return table;
}

/// Default stream of a task: the core's, one for each set of axes or group size, one for permutes, for
/// their sends and for their receives alone, and one for each direction of host transfers.
std::string usual_stream(const Task& task, const steps::Mesh& mesh) {
  if (const auto* transfer = std::get_if<HostTransfer>(&task.work))
    return std::string(kDirections[transfer->direction]);
  if (const auto* permute = std::get_if<steps::Permute>(&task.work))
    return permute->waits ? "permute" : "send";
  if (std::holds_alternative<steps::Receive>(task.work)) return "receive";
  const auto* call = std::get_if<CollectiveCall>(&task.work);
  return call == nullptr ? "core" : steps::over_text(*call, mesh);
}

/// Objects that tasks refer to by name.
struct Names {
  const steps::Mesh& mesh;
  NamedComputations computations;
  CommunicationReader communication;
};

/// Appends the tasks that one object defines.
void read_task(const input::Json& json, const std::string& pointer, Names& names,
               std::vector<Draft>& drafts) {
  input::ObjectReader reader(json, pointer);
  Draft draft{.task = {}, .pointer = pointer, .stream = {}, .after = {}};
  const std::string name = reader.text("name", "a name, like \"forward {i}\"");
  draft.task.group = reader.has("group") ? reader.text("group") : group_of(name);
  const std::string_view kind = input::exactly_one(reader, kTaskKinds, pointer);
  if (kind.empty())
    throw input::InputError(
        pointer,
        "does nothing; give one of \"compute\", \"collective\", \"permute\", \"receive\" and "
        "\"host\"");
  if (kind == "compute")
    draft.task.work = read_computation(reader.required(kind, "a computation"),
                                       reader.pointer_to(kind), names.computations);
  if (kind == "collective") draft.task.work = names.communication.collective(reader.object(kind));
  if (kind == "permute") draft.task.work = names.communication.permute(reader.object(kind));
  if (kind == "receive") {
    draft.task.work = steps::Receive{};
    draft.receives = reader.text(kind, "the name of a permute");
  }
  if (reader.has("chips")) draft.task.chips = names.communication.chips(reader);
  if (kind == "host") draft.task.work = host_transfer_table().read_all(reader.object(kind));
  draft.stream =
      reader.has("stream") ? reader.text("stream") : usual_stream(draft.task, names.mesh);
  const std::string receives = draft.receives;
  std::vector<std::string> after;
  if (reader.has("after")) kTaskNames.read(reader, "after", after);
  const std::uint64_t times = reader.has("repeat") ? reader.integer("repeat", 1, kMostTasks) : 1;
  if (times > 1 && name.find(kIndex) == std::string::npos)
    throw input::InputError(
        reader.pointer_to("name"),
        fmt::format("'{0}' would be the name of {1} tasks; write \"{0} {{i}}\"", name, times));
  reader.finish();
  if (drafts.size() + times > kMostTasks)
    throw input::InputError(pointer, fmt::format("the step has more than {} tasks", kMostTasks));
  for (std::uint64_t number = 0; number < times; ++number) {
    Draft& one = drafts.emplace_back(draft);
    one.task.name = numbered(name, number);
    one.receives = numbered(receives, number);
    for (const std::string& before : after) one.after.push_back(numbered(before, number));
  }
}

/// Resolves names to ids.
steps::StepGraph resolve(std::vector<Draft> drafts) {
  std::map<std::string_view, steps::TaskId> ids;
  std::vector<std::string_view> names;
  for (const Draft& draft : drafts) {
    ids.emplace(draft.task.name, static_cast<steps::TaskId>(names.size()));
    names.push_back(draft.task.name);
  }
  steps::StepGraph graph;
  for (Draft& draft : drafts) {
    const auto id_of = [&](const std::string& name, const char* key) {
      const auto known = ids.find(name);
      if (known == ids.end())
        throw input::InputError(
            input::pointer(draft.pointer, key),
            fmt::format("there is no task '{}'; {}", name, input::remedy(name, names)));
      return known->second;
    };
    draft.task.stream = steps::stream_id(graph, draft.stream);
    if (auto* receive = std::get_if<steps::Receive>(&draft.task.work))
      receive->permute = id_of(draft.receives, "receive");
    for (const std::string& before : draft.after) {
      const steps::TaskId id = id_of(before, "after");
      // A duplicate dependency counts once: the task signals completion once.
      std::vector<steps::TaskId>& waits_for = draft.task.after;
      if (std::ranges::find(waits_for, id) == waits_for.end()) waits_for.push_back(id);
    }
  }
  for (const Draft& draft : drafts) graph.tasks.push_back(draft.task);
  return graph;
}

input::Json operation_json(const workloads::Operation& operation, bool recomputed) {
  input::Json json = input::Json::object();
  if (operation.flops > 0.0) {
    json["flops"] = operation.flops;
    json["products"] = hardware::name(operation.products);
    json["recomputed"] = recomputed;
  }
  if (operation.vector_ops > 0.0) json["vector_ops"] = operation.vector_ops;
  if (operation.comparisons > 0.0) json["comparisons"] = operation.comparisons;
  if (operation.kernel != workloads::Kernel::usual) json["kernel"] = name(operation.kernel);
  if (operation.attention_rows > 0.0) json["attention_rows"] = operation.attention_rows;
  if (operation.hbm_bytes() > 0.0)
    json["hbm_bytes"] = units::format(operation.hbm_bytes(), Dimension::bytes);
  if (operation.times > 1) json["times"] = operation.times;
  return json;
}

/// An object, or a list of several. The total time comes first.
input::Json computation_json(const Computation& computation) {
  input::Json list = input::Json::array();
  if (computation.operations.empty() || computation.seconds > 0.0)
    list.push_back({{"time", units::format(computation.seconds, Dimension::time)}});
  for (const workloads::Operation& operation : computation.operations)
    list.push_back(operation_json(operation, computation.model_flops == 0.0));
  return list.size() == 1 ? list.front() : list;
}

bool overlap(const std::vector<std::uint32_t>& one, const std::vector<std::uint32_t>& other) {
  return std::ranges::any_of(
      one, [&](std::uint32_t chip) { return std::ranges::binary_search(other, chip); });
}

/// Checks the chips of tasks, and that a task for some chips does not wait for one that none of these
/// runs. `pointers`: by task
void check_chips(const steps::StepGraph& graph, const steps::Mesh& mesh,
                 const std::vector<std::string>& pointers) {
  std::set<std::pair<std::uint32_t, std::vector<std::size_t>>> valid;  // chips and axes
  for (steps::TaskId id = 0; id < graph.tasks.size(); ++id) {
    const auto* call = std::get_if<steps::CollectiveCall>(&graph.tasks[id].work);
    if (call != nullptr && !call->groups && graph.tasks[id].chips &&
        !valid.emplace(*graph.tasks[id].chips, call->axes).second)
      continue;
    const std::string why_not = steps::chips_error(graph, graph.tasks[id], mesh);
    if (!why_not.empty()) throw input::InputError(input::pointer(pointers[id], "chips"), why_not);
  }
  for (steps::TaskId id = 0; id < graph.tasks.size(); ++id)
    for (const steps::TaskId before : graph.tasks[id].after) {
      const Task& task = graph.tasks[id];
      const Task& other = graph.tasks[before];
      if (!task.chips && !other.chips) continue;
      const auto chips = steps::listed_chips(graph, task);
      const auto others = steps::listed_chips(graph, other);
      if (!chips || !others || overlap(*chips, *others)) continue;
      throw input::InputError(
          input::pointer(pointers[id], "after"),
          fmt::format("'{}' waits for '{}', but no chip runs both; send a message from one to the "
                      "other (\"permute\"), and wait for that",
                      task.name, other.name));
    }
}

/// Reads the named computations.
NamedComputations read_named(input::ObjectReader& step) {
  NamedComputations named;
  if (!step.has("computations")) return named;
  const std::string pointer = step.pointer_to("computations");
  const input::Json& json = step.required("computations", "objects");
  if (!json.is_object())
    throw input::InputError(pointer, "expected an object of named computations");
  const input::ObjectReader reader(json, pointer);
  for (const auto& [name, work] : json.items())
    named.emplace(name, read_operations(work, reader.pointer_to(name)));
  return named;
}

}  // namespace

steps::StepGraph read_tasks(input::ObjectReader& step, const steps::Mesh& mesh) {
  const input::Json& list = step.array("tasks");
  const std::string pointer = step.pointer_to("tasks");
  if (list.empty()) throw input::InputError(pointer, "is empty; a step needs at least one task");
  Names names{mesh, read_named(step), CommunicationReader(step, mesh)};
  std::vector<Draft> drafts;
  for (std::size_t i = 0; i < list.size(); ++i)
    read_task(list[i], input::pointer(pointer, i), names, drafts);
  std::vector<std::string> pointers;
  for (const Draft& draft : drafts) pointers.push_back(draft.pointer);
  steps::StepGraph graph = resolve(std::move(drafts));
  graph.chip_lists = names.communication.lists();
  try {
    validate(graph);
  } catch (const steps::StepError& error) {
    throw input::InputError(pointers[error.task()], error.what());
  }
  check_chips(graph, mesh, pointers);
  return graph;
}

void write_tasks(const steps::StepGraph& graph, const steps::Mesh& mesh, input::Json& step) {
  input::Json named = input::Json::object();
  std::map<std::string, std::string> names;  // by computation, as JSON text
  input::Json list = input::Json::array();
  for (const Task& task : graph.tasks) {
    input::Json json = {
        {"name", task.name}, {"group", task.group}, {"stream", graph.streams[task.stream]}};
    if (const auto* computation = std::get_if<Computation>(&task.work)) {
      json["compute"] = computation_json(*computation);
      if (json["compute"].is_array()) {
        const std::string next = fmt::format("work {}", names.size());
        const auto [known, is_new] = names.emplace(json["compute"].dump(), next);
        if (is_new) named[next] = json["compute"];
        json["compute"] = known->second;
      }
    }
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      json["collective"] = collective_json(*call, graph, mesh);
    if (const auto* permute = std::get_if<steps::Permute>(&task.work))
      json["permute"] = permute_json(*permute, graph);
    if (const auto* receive = std::get_if<steps::Receive>(&task.work))
      json["receive"] = graph.tasks[receive->permute].name;
    if (task.chips) json["chips"] = graph.chip_lists[*task.chips].name;
    if (const auto* transfer = std::get_if<HostTransfer>(&task.work))
      json["host"] = host_transfer_table().write(*transfer);
    input::Json after = input::Json::array();
    for (const steps::TaskId before : task.after) after.push_back(graph.tasks[before].name);
    json["after"] = after;
    list.push_back(json);
  }
  if (!named.empty()) step["computations"] = named;
  if (!graph.chip_lists.empty()) step["groups"] = chip_lists_json(graph);
  step["tasks"] = list;
}

namespace {

/// One operation, or several.
std::vector<input::Json> operations_schemas() {
  const input::Json operation = operation_table().schema();
  return {operation, {{"type", "array"}, {"minItems", 1}, {"items", operation}}};
}

input::Json compute_schema() {
  const std::vector<input::Json> operations = operations_schemas();
  return input::one_of({operations[0], operations[1], input::Text{}.schema()});
}

input::Json named_computations_schema() {
  const std::vector<input::Json> operations = operations_schemas();
  return {{"type", "object"},
          {"additionalProperties", input::one_of({operations[0], operations[1]})}};
}

input::Json named_groups_schema() {
  return {{"type", "object"}, {"additionalProperties", chip_lists_schema()}};
}

input::Json task_schema() {
  using input::Elsewhere, input::Text;
  static const input::Table<input::ReadElsewhere> table{
      {{"name", Elsewhere{Text{}}, "unique; with `repeat`, contains `{i}`, the task number from 0",
        input::kRequired},
       {"group", Elsewhere{Text{}}, "reported group",
        input::otherwise("the name without its number")},
       {"stream", Elsewhere{Text{}},
        "`core` for compute, a collective's axes or `groups of 4`, `permute`, `send`, `receive`, "
        "`to-host`, `from-host`",
        input::otherwise("by kind")},
       {"after", Elsewhere{kTaskNames}, "task dependencies by name; `{i}` is the own number",
        input::otherwise("nothing")},
       {"repeat", Elsewhere{input::Integer{1, kMostTasks}}, "number of tasks",
        input::by_default("1")},
       {"chips", Elsewhere{task_chips_schema},
        "chips that run it ([roles](#roles-of-chips)), like `[0, 1]`, or a name from `groups`",
        input::otherwise("all")},
       {"compute", Elsewhere{compute_schema},
        "an object as below, an array of them, or a name from `computations`",
        input::otherwise("one of five")},
       {"collective", Elsewhere{collective_call_schema}, ""},
       {"permute", Elsewhere{permute_schema}, ""},
       {"receive", Elsewhere{Text{}}, "name of a permute with `wait` false: its receivers wait",
        input::otherwise("one of five")},
       {"host", Elsewhere{input::Nested{host_transfer_table}}, ""}},
      {.rules = R"({"oneOf": [{"required": ["compute"]}, {"required": ["collective"]},
                             {"required": ["permute"]}, {"required": ["receive"]},
                             {"required": ["host"]}]})"}};
  return table.schema();
}

input::Json task_list_schema() {
  return {{"type", "array"}, {"minItems", 1}, {"items", task_schema()}};
}

}  // namespace

input::Json tasks_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"tasks", Elsewhere{task_list_schema}, "[user-defined tasks](#tasks)",
       input::otherwise("one of three")},
      {"computations", Elsewhere{named_computations_schema}, "named values of `compute`"},
      {"groups", Elsewhere{named_groups_schema},
       "named values of `collective.groups`, `permute.pairs` and `chips`"},
  };
  return table.schema();
}

}  // namespace equarx::config
