// What a topology is like: for people, for machines, and as a picture.
#pragma once

#include <string>

#include "experiments/object_reader.hpp"
#include "experiments/topology_plan.hpp"
#include "models/hardware/chip.hpp"
#include "topologies/metrics.hpp"

namespace equarx::experiments {

/// Everything but the ring is of all cables, also of those that the ring avoids.
struct TopologyReport {
  std::string hardware;  ///< name of the chip
  TopologyConfig config;
  PlannedTopology topology;
  topology::DegreeRange degree;
  topology::Distances distances;
  topology::Bisection bisection;  ///< its weight: payload bytes per second of one direction
  topology::RingSearch ring;
};

/// @throws InputError for more chips than can be simulated one by one.
TopologyReport report_topology(const TopologyConfig& config, const hardware::Chip& chip);

std::string to_table(const TopologyReport& report);
Json to_json(const TopologyReport& report);

/// An SVG picture with the ring highlighted, if there is one.
/// @throws InputError for more chips than are legible.
std::string to_svg(const TopologyReport& report);

}  // namespace equarx::experiments
