#include "experiments/config/faults_json.hpp"

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/chip_names.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {
namespace {

/// No machine lies beyond these factors.
constexpr double kLeastFactor = input::kLeastShare;
constexpr double kMostFactor = 1e9;

/// A factor on a speed or a time.
struct Factor {
  void read(input::ObjectReader& reader, std::string_view key, double& factor) const {
    factor = reader.number(key, "a number above 0");
    if (factor < kLeastFactor || factor > kMostFactor)
      throw input::InputError(
          reader.pointer_to(key),
          fmt::format("{} is not a factor from {} to {}", factor, kLeastFactor, kMostFactor));
  }
  input::Json write(double factor) const { return factor; }
  input::Json schema() const {
    return {{"type", "number"}, {"minimum", kLeastFactor}, {"maximum", kMostFactor}};
  }
};

/// A factor on the bandwidth of a link, which is not dead.
struct BandwidthFactor : Factor {
  void read(input::ObjectReader& reader, std::string_view key, double& factor) const {
    if (reader.number(key) == 0.0)
      throw input::InputError(
          reader.pointer_to(key),
          "0 is a dead link; give the time of failure instead, like \"fails_at\": \"0 s\"");
    Factor::read(reader, key, factor);
  }
};

const input::Table<LinkFault>& link_fault_table() {
  using input::Quantity, input::Sign, units::Dimension;
  static const input::Table<LinkFault> table{
      {"between", input::Elsewhere{kChipPair}, "two chips; affects both directions of the link",
       input::kRequired},
      {"bandwidth_factor", &LinkFault::bandwidth_factor, BandwidthFactor{}, "1e-9 to 1e9"},
      {"extra_latency", &LinkFault::extra_latency_s, Quantity{Dimension::time, Sign::not_negative},
       "added to the latency"},
      {"fails_at", &LinkFault::fails_at_s, Quantity{Dimension::time, Sign::not_negative},
       "time of failure; the next transfer over the link ends the run with a `failure` and no time",
       input::otherwise("never")},
  };
  return table;
}

const input::Table<ChipFault>& chip_fault_table() {
  static const input::Table<ChipFault> table{
      {"chip", input::Elsewhere{kChip}, "name", input::kRequired},
      {"slowdown", &ChipFault::slowdown, Factor{}, "factor on core time, 1e-9 to 1e9",
       input::kRequired},
  };
  return table;
}

const input::Table<FaultsConfig>& faults_table() {
  static const input::Table<FaultsConfig> table{
      {"links", input::Elsewhere{input::Objects{link_fault_table}}, ""},
      {"chips", input::Elsewhere{input::Objects{chip_fault_table}}, ""},
  };
  return table;
}

LinkFault read_link(input::ObjectReader reader, const std::string& pointer,
                    const topology::Topology& graph, const ChipNames& names) {
  LinkFault fault;
  const input::Json& pair = reader.required("between", "a list of two chips that a link joins");
  fault.cable = names.read_pair(pair, reader.pointer_to("between"));
  fault.first = graph.label(fault.cable.first);
  fault.second = graph.label(fault.cable.second);
  if (!graph.find_link(fault.cable.first, fault.cable.second))
    throw input::InputError(
        reader.pointer_to("between"),
        fmt::format("no link joins {} and {}; 'equarx-sim topology --svg FILE' draws the links",
                    fault.first, fault.second));
  // A factor of 1 is allowed: sweeps start at the healthy machine.
  const bool has_effect =
      reader.has("bandwidth_factor") || reader.has("extra_latency") || reader.has("fails_at");
  link_fault_table().read(reader, fault);
  reader.finish();
  if (!has_effect)
    throw input::InputError(pointer,
                            "changes nothing; give bandwidth_factor, extra_latency or fails_at");
  return fault;
}

ChipFault read_chip_fault(input::ObjectReader reader, const ChipNames& names,
                          const topology::Topology& graph) {
  ChipFault fault;
  fault.chip =
      names.read_chip(reader.required("chip", "the name of a chip"), reader.pointer_to("chip"));
  fault.name = graph.label(fault.chip);
  if (fault.chip >= graph.chip_count())
    throw input::InputError(
        reader.pointer_to("chip"),
        fmt::format("'{}' has no core to slow down; name a chip, or a port in \"links\"",
                    fault.name));
  reader.required("slowdown", "a factor on the chip's core time, like 2");
  chip_fault_table().read(reader, fault);
  reader.finish();
  return fault;
}

template <typename Fault, typename Same>
void reject_duplicate(const std::vector<Fault>& faults, const std::string& pointer, Same same) {
  for (std::size_t other = 0; other + 1 < faults.size(); ++other)
    if (same(faults[other], faults.back()))
      throw input::InputError(
          input::pointer(pointer, faults.size() - 1),
          fmt::format("repeats {}; merge them", input::pointer(pointer, other)));
}

bool same_link(const LinkFault& one, const LinkFault& other) {
  return std::minmax(one.cable.first, one.cable.second) ==
         std::minmax(other.cable.first, other.cable.second);
}

}  // namespace

FaultsConfig read_faults(input::ObjectReader reader, TopologyConfig& topology,
                         const hardware::Chip& chip) {
  FaultsConfig faults;
  const topology::Topology& graph = planned_topology(topology, chip).graph;
  const ChipNames names(graph);
  if (reader.has("links")) {
    const input::Json& list = reader.array("links");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string pointer = reader.pointer_to("links", i);
      faults.links.push_back(
          read_link(input::ObjectReader(list[i], pointer), pointer, graph, names));
      reject_duplicate(faults.links, reader.pointer_to("links"), same_link);
    }
  }
  if (reader.has("chips")) {
    const input::Json& list = reader.array("chips");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string pointer = reader.pointer_to("chips", i);
      faults.chips.push_back(read_chip_fault(input::ObjectReader(list[i], pointer), names, graph));
      reject_duplicate(faults.chips, reader.pointer_to("chips"),
                       [](const ChipFault& a, const ChipFault& b) { return a.chip == b.chip; });
    }
  }
  reader.finish();
  return faults;
}

input::Json faults_json(const FaultsConfig& faults) {
  input::Json json = input::Json::object();
  for (const LinkFault& fault : faults.links) {
    input::Json link = {{"between", {fault.first, fault.second}}};
    const bool other = fault.extra_latency_s != 0.0 || fault.fails_at_s;
    if (fault.bandwidth_factor != 1.0 || !other) link["bandwidth_factor"] = fault.bandwidth_factor;
    if (fault.extra_latency_s != 0.0)
      link["extra_latency"] = units::format(fault.extra_latency_s, units::Dimension::time);
    if (fault.fails_at_s)
      link["fails_at"] = units::format(*fault.fails_at_s, units::Dimension::time);
    json["links"].push_back(link);
  }
  for (const ChipFault& fault : faults.chips)
    json["chips"].push_back({{"chip", fault.name}, {"slowdown", fault.slowdown}});
  return json;
}

input::Json faults_schema() { return faults_table().schema(); }

}  // namespace equarx::config
