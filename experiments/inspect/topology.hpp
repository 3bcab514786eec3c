// Topology reports: as a table, as JSON, and as a picture.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/config/topology.hpp"
#include "models/hardware/chip.hpp"
#include "topologies/metrics.hpp"
#include "topologies/ring_search.hpp"

namespace equarx::inspect {

/// All values except the ring include avoided links; with a network, they describe one slice.
struct TopologyReport {
  std::string hardware;  ///< name of the chip
  config::TopologyConfig config;
  config::PlannedTopology topology;
  topology::DegreeRange degree;
  topology::Distances distances;
  topology::Bisection bisection;  ///< weight: payload bytes per second in one direction
  topology::RingSearch ring;
};

/// Analyses a topology. @throws InputError for more chips than can be simulated one by one.
TopologyReport report_topology(const config::TopologyConfig& config, const hardware::Chip& chip);

/// The report for people.
std::string to_table(const TopologyReport& report);
/// The report for programs.
input::Json to_json(const TopologyReport& report);

/// An SVG picture with the ring highlighted, if there is one. @throws InputError for more chips
/// than are legible.
std::string to_svg(const TopologyReport& report);

}  // namespace equarx::inspect
