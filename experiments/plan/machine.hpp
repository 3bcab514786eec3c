// From a topology and a program to the machine that is simulated.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/obstacle.hpp"
#include "experiments/plan/ring.hpp"
#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "topologies/topology.hpp"

namespace equarx::plan {

/// The chips of a configuration and a ring through them, each made when it is first needed: a pod that
/// representatives stand for is never enumerated.
class Site {
 public:
  explicit Site(const config::ExperimentConfig& config) : config_(config) {}

  const config::ExperimentConfig& config() const { return config_; }

  /// Makes the chips, or says why that cannot be had.
  MaybeObstacle prepare();
  /// Makes what an algorithm needs of it, or says why that cannot be had.
  MaybeObstacle prepare(config::Algorithm algorithm);
  /// After prepare().
  const config::PlannedTopology& topology() const { return *topology_; }
  /// After prepare() for an algorithm that goes along a ring.
  const Ring& ring() const { return ring_; }

 private:
  const config::ExperimentConfig& config_;
  std::shared_ptr<const config::PlannedTopology> topology_;
  Ring ring_;
};

/// What is simulated, and why.
struct SimulatedMachine {
  sim::Machine machine;
  bool symmetric = false;  ///< a few chips stand for all of them
  std::string reason;      ///< for people: "all chips are alike"
};

/// The rank that a rank sends to in a channel; itself if it sends nothing there.
using PeerOf = std::function<collectives::Rank(collectives::Rank rank, std::size_t channel)>;

/// Ranks on chips that are all the site's, with the ways of their messages, faults and HBMs. `site` is prepared.
sim::Machine wire_up(const Site& site, const std::vector<topology::ChipId>& chips,
                     std::size_t channels, const PeerOf& peer_of);

/// A link direction of the chip that two chips have for themselves, and which stands for many.
sim::LinkSpec link_of(const hardware::Chip& chip);

/// Gives the chips of a machine HBMs that DMAs and cores share, if the wire's buffers lie there.
void share_hbm(const config::ExperimentConfig& config, sim::Machine& machine);

/// Whether representatives are simulated, as can be seen without looking at any chip.
bool has_representatives(config::Algorithm algorithm, const config::ExperimentConfig& config);

/// Whether this computer can hold the machine, before any of it or its program is made. An obstacle if all
/// chips would be simulated, and need more memory than it has.
MaybeObstacle check_machine_memory(config::Algorithm algorithm, const collectives::RankGrid& grid,
                                   const config::ExperimentConfig& config);

/// Representatives if they have the timing of all chips and the configuration does not ask for all. An
/// obstacle if it asks for representatives and there are none.
OrObstacle<SimulatedMachine> plan_machine(config::Algorithm algorithm,
                                          const collectives::Program& program, Site& site);

}  // namespace equarx::plan
