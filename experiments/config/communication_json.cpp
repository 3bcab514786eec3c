#include "experiments/config/communication_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/collective_json.hpp"
#include "models/formats/block_format.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::config {
namespace {

using steps::CollectiveCall;
using steps::Permute;
using units::Dimension;
using Lists = std::vector<std::vector<std::uint32_t>>;

constexpr std::string_view kGroups = "groups";
constexpr std::array<std::string_view, 2> kOver = {"axes", kGroups};
constexpr std::uint64_t kMostTaskElements = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostChip = (std::uint64_t{1} << 24) - 1;

std::vector<std::size_t> read_axes(input::ObjectReader& reader, const steps::Mesh& mesh) {
  std::vector<std::string_view> names;
  for (const steps::MeshAxis& axis : mesh.axes) names.push_back(axis.name);
  std::vector<std::size_t> axes;
  const input::Json& list = reader.array("axes");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = reader.pointer_to("axes", i);
    if (!list[i].is_string()) throw input::InputError(pointer, "expected the name of a mesh axis");
    const auto name = list[i].get<std::string>();
    const std::optional<std::size_t> axis = mesh.find(name);
    if (!axis)
      throw input::InputError(pointer, fmt::format("the mesh has no axis '{}'; {}", name,
                                                   input::remedy_of_all(name, names)));
    if (std::ranges::find(axes, *axis) != axes.end())
      throw input::InputError(pointer, fmt::format("'{}' is listed twice; remove it", name));
    axes.push_back(*axis);
  }
  std::ranges::sort(axes);
  if (mesh.group_size(axes) < 2)
    throw input::InputError(reader.pointer_to("axes"),
                            "a collective needs groups of two chips or more; name longer axes");
  return axes;
}

std::uint64_t read_elements(input::ObjectReader& reader, numerics::ElementFormat dtype) {
  const double bytes = reader.quantity("bytes", Dimension::bytes);
  const double elements = bytes * 8.0 / numerics::element_bits(dtype);
  if (!(elements >= 1.0 && elements <= static_cast<double>(kMostTaskElements)))
    throw input::InputError(
        reader.pointer_to("bytes"),
        fmt::format("{} are {} elements of {}; from 1 to {} can be simulated",
                    units::bytes_text(bytes), elements, numerics::name(dtype), kMostTaskElements));
  if (elements != std::floor(elements))
    throw input::InputError(reader.pointer_to("bytes"),
                            fmt::format("{} is not a whole number of elements of {}",
                                        units::bytes_text(bytes), numerics::name(dtype)));
  return static_cast<std::uint64_t>(elements);
}

/// Reads chip lists like [[0, 3], [1, 2]].
Lists read_lists(const input::Json& json, const std::string& pointer) {
  constexpr const char* kExpected = "expected lists of chips, like [[0, 3], [1, 2]]";
  if (!json.is_array()) throw input::InputError(pointer, kExpected);
  Lists lists;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string list_pointer = input::pointer(pointer, i);
    if (!json[i].is_array()) throw input::InputError(list_pointer, kExpected);
    std::vector<std::uint32_t>& list = lists.emplace_back();
    for (std::size_t k = 0; k < json[i].size(); ++k)
      list.push_back(static_cast<std::uint32_t>(
          input::read_integer(json[i][k], input::pointer(list_pointer, k), 0, kMostChip)));
  }
  return lists;
}

/// Named lists must not be empty: they need not be used, so no use would check them.
Lists read_named_lists(const input::Json& json, const std::string& pointer) {
  constexpr const char* kEmpty = "is empty; list chips, like [[0, 3], [1, 2]], or remove it";
  Lists lists = read_lists(json, pointer);
  if (lists.empty()) throw input::InputError(pointer, kEmpty);
  const auto empty = std::ranges::find_if(lists, &std::vector<std::uint32_t>::empty);
  if (empty != lists.end())
    throw input::InputError(
        input::pointer(pointer, static_cast<std::size_t>(empty - lists.begin())), kEmpty);
  return lists;
}

}  // namespace

CommunicationReader::CommunicationReader(input::ObjectReader& step, const steps::Mesh& mesh)
    : mesh_(mesh) {
  if (!step.has(kGroups)) return;
  const std::string pointer = step.pointer_to(kGroups);
  const input::Json& json = step.required(kGroups, "lists of chips");
  if (!json.is_object()) throw input::InputError(pointer, "expected an object of named chip lists");
  const input::ObjectReader named(json, pointer);
  for (const auto& [name, lists] : json.items())
    lists_.push_back({name, read_named_lists(lists, named.pointer_to(name))});
}

/// Returns the id of the lists under a key: inline, or by name.
std::uint32_t CommunicationReader::lists_id(input::ObjectReader& reader, std::string_view key) {
  const input::Json& json = reader.required(key, "lists of chips, or their name");
  const std::string pointer = reader.pointer_to(key);
  if (!json.is_string()) return chip_lists_id(lists_, read_lists(json, pointer));
  const auto name = json.get<std::string>();
  const auto known = std::ranges::find(lists_, name, &steps::ChipLists::name);
  if (known != lists_.end()) return static_cast<std::uint32_t>(known - lists_.begin());
  std::vector<std::string_view> names;
  for (const steps::ChipLists& lists : lists_) names.push_back(lists.name);
  throw input::InputError(pointer, fmt::format("\"groups\" of the step have no '{}'; {}", name,
                                               input::remedy(name, names)));
}

void CommunicationReader::read_groups(input::ObjectReader& reader, CollectiveCall& call) {
  const std::uint32_t id = lists_id(reader, kGroups);
  const Lists& lists = lists_[id].lists;
  const std::string why_not = steps::group_error(lists, mesh_.chips());
  if (!why_not.empty()) throw input::InputError(reader.pointer_to(kGroups), why_not);
  call.groups = {.lists = id, .size = static_cast<std::uint32_t>(lists.front().size())};
}

CollectiveCall CommunicationReader::collective(input::ObjectReader reader) {
  CollectiveCall call;
  call.collective = read_collective_name(reader, "kind");
  if (input::exactly_one(reader, kOver, reader.pointer_to("axes")) == kGroups)
    read_groups(reader, call);
  else
    call.axes = read_axes(reader, mesh_);
  call.dtype =
      input::choose(reader, "dtype", numerics::kTensorFormats, numerics::ElementFormat::bf16);
  call.elements = read_elements(reader, call.dtype);
  reader.finish();
  return call;
}

/// The lists of a task's chips: one list, or named ones.
std::uint32_t CommunicationReader::chips(input::ObjectReader& reader) {
  constexpr const char* kChips = "chips";
  const input::Json& json = reader.required(kChips, "a list of chips, or a name");
  if (!json.is_array()) return lists_id(reader, kChips);
  return chip_lists_id(lists_, read_lists(input::Json::array({json}), reader.pointer_to(kChips)));
}

Permute CommunicationReader::permute(input::ObjectReader reader) {
  Permute permute{.pairs = lists_id(reader, "pairs")};
  const std::string why_not = steps::pair_error(lists_[permute.pairs].lists, mesh_.chips());
  if (!why_not.empty()) throw input::InputError(reader.pointer_to("pairs"), why_not);
  permute.bytes = read_elements(reader, numerics::ElementFormat::fp8_e4m3);
  permute.waits = reader.flag_or("wait", true);
  reader.finish();
  return permute;
}

input::Json collective_json(const CollectiveCall& call, const steps::StepGraph& graph,
                            const steps::Mesh& mesh) {
  input::Json json = {{"kind", collective_key(call.collective)}};
  if (call.groups) {
    json[std::string(kGroups)] = graph.chip_lists[call.groups->lists].name;
  } else {
    json["axes"] = input::Json::array();
    for (const std::size_t axis : call.axes) json["axes"].push_back(mesh.axes[axis].name);
  }
  const double bytes = static_cast<double>(call.elements) * numerics::element_bits(call.dtype) / 8;
  json["bytes"] = units::format(bytes, Dimension::bytes);
  json["dtype"] = numerics::name(call.dtype);
  return json;
}

input::Json permute_json(const Permute& permute, const steps::StepGraph& graph) {
  input::Json json = {
      {"pairs", graph.chip_lists[permute.pairs].name},
      {"bytes", units::format(static_cast<double>(permute.bytes), Dimension::bytes)}};
  if (!permute.waits) json["wait"] = false;
  return json;
}

input::Json chip_lists_json(const steps::StepGraph& graph) {
  input::Json json = input::Json::object();
  for (const steps::ChipLists& lists : graph.chip_lists) json[lists.name] = lists.lists;
  return json;
}

namespace {

/// Chip lists, or their name.
input::Json lists_or_name_schema() {
  return input::one_of({chip_lists_schema(), input::Text{}.schema()});
}

}  // namespace

input::Json chip_lists_schema() {
  return input::schema_of(R"({"x-definition": "chip_lists", "type": "array", "minItems": 1,
    "items": {"type": "array", "minItems": 1,
              "items": {"type": "integer", "minimum": 0, "maximum": 16777215}}})");
}

input::Json task_chips_schema() {
  return input::one_of({input::schema_of(R"({"type": "array", "minItems": 1,
                          "items": {"type": "integer", "minimum": 0, "maximum": 16777215}})"),
                        input::Text{}.schema()});
}

input::Json collective_call_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {{"kind", Elsewhere{collective_name_schema}, "as in `where`", input::kRequired},
       {"axes", Elsewhere{R"({"type": "array", "minItems": 1, "items": {"type": "string"}})"},
        "mesh axes; groups differ only along these", input::otherwise("one of two")},
       {"groups", Elsewhere{lists_or_name_schema},
        "chips in rank order, like `[[0, 3], [1, 2]]`, or a name from `groups`; chips in no group "
        "skip the task",
        input::otherwise("one of two")},
       {"bytes", Elsewhere{input::Quantity{Dimension::bytes}}, "input per chip; all-gather: output",
        input::kRequired},
       {"dtype", Elsewhere{input::Named{numerics::kTensorFormats}},
        R"(`"fp32"`, `"fp16"`, `"fp8-e4m3"`, `"fp8-e5m2"`)", input::by_default(R"("bf16")")}},
      {.rules = R"({"oneOf": [{"required": ["axes"]}, {"required": ["groups"]}]})"}};
  return table.schema();
}

input::Json permute_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"pairs", Elsewhere{lists_or_name_schema},
       "[sender, receiver], like `[[0, 1], [1, 2]]`, or a name from `groups`; each at most once "
       "per chip",
       input::kRequired},
      {"bytes", Elsewhere{input::Quantity{Dimension::bytes}}, "per sender; never quantized",
       input::kRequired},
      {"wait", Elsewhere{input::Flag{}}, "false: a `receive` task waits for the messages",
       input::by_default("true")},
  };
  return table.schema();
}

}  // namespace equarx::config
