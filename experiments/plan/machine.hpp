// Builds the simulated machine from a topology and a program.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/plan/infeasible.hpp"
#include "experiments/plan/ring.hpp"
#include "models/collectives/algorithm.hpp"
#include "models/collectives/program.hpp"
#include "sim/classes.hpp"
#include "sim/machine.hpp"
#include "sim/switch.hpp"
#include "topologies/topology.hpp"

namespace equarx::plan {

/// The chips of a configuration and a ring through them, both created on demand: a pod simulated by
/// representative chips is never enumerated.
/// Programs of the same wiring share one machine.
class MachineContext {
 public:
  explicit MachineContext(const config::ExperimentConfig& config,
                          RunProfile profile = RunProfile::single)
      : config_(config), profile_(profile) {}

  const config::ExperimentConfig& config() const { return config_; }
  RunProfile profile() const { return profile_; }

  /// Builds the chips; returns the reason if that is infeasible.
  Expected<void> prepare();
  /// Builds whatever an algorithm needs; returns the reason if that is infeasible.
  Expected<void> prepare(config::Algorithm algorithm);
  /// Requires prepare().
  const config::PlannedTopology& topology() const { return *topology_; }
  /// Requires prepare() for an algorithm that runs along a ring.
  const Ring& ring() const { return ring_; }

  /// The machine of all chips that a program runs on, or with `by_slice` of the first slice if all
  /// slices are alike: see SimulatedMachine::slices. Requires prepare(algorithm).
  std::shared_ptr<const sim::Machine> machine_of(config::Algorithm algorithm,
                                                 const collectives::Program& program,
                                                 bool by_slice = false);
  /// The classes of its chips, by kinds(); null as from sim::by_class().
  std::shared_ptr<const sim::MachineByClass> classes_of(
      const std::shared_ptr<const sim::Machine>& machine, std::vector<std::uint32_t> kinds);

 private:
  /// A machine, and the placement and channels that it depends on.
  struct Wired {
    collectives::RankLayout layout;
    collectives::RankGrid grid;
    std::vector<collectives::Channel> channels;
    bool by_slice;
    std::shared_ptr<const sim::Machine> machine;
  };
  struct Classified {
    std::shared_ptr<const sim::Machine> machine;
    std::vector<std::uint32_t> kinds;
    std::shared_ptr<const sim::MachineByClass> by_class;
  };

  const config::ExperimentConfig& config_;
  RunProfile profile_;
  std::shared_ptr<const config::PlannedTopology> topology_;
  Ring ring_;
  std::vector<Wired> wired_;
  std::vector<Classified> classified_;
};

/// The simulated machine and the reason.
struct SimulatedMachine {
  std::shared_ptr<const sim::Machine> shared;  ///< perhaps with other collectives of the plan
  bool symmetric = false;                      ///< representative chips only
  std::string reason;                          ///< for people
  /// If above 1, the machine is one of so many slices, which are in the same state at all times: a
  /// message to another slice arrives at its counterpart in this one, in a lane for each distance.
  /// For the direct engine only.
  std::uint32_t slices = 1;
  /// For the direct engine; null if all chips of the machine are simulated.
  std::shared_ptr<const sim::MachineByClass> by_class = nullptr;

  const sim::Machine& machine() const { return *shared; }
};

/// Returns the peer that a rank sends to in a channel; the rank itself if it sends nothing.
using PeerOf = std::function<collectives::Rank(collectives::Rank rank, std::size_t channel)>;

/// Builds a machine with one rank per chip of `chips`, with the routes of their messages, faults
/// and HBMs. `context` must be prepared.
sim::Machine wire_up(const MachineContext& context, const std::vector<topology::ChipId>& chips,
                     std::span<const collectives::Channel> channels, const PeerOf& peer_of);
/// Likewise for the first `ranks` only: all, or the first slice as in SimulatedMachine::slices.
sim::Machine wire_up(const MachineContext& context, const std::vector<topology::ChipId>& chips,
                     std::span<const collectives::Channel> channels, const PeerOf& peer_of,
                     collectives::Rank ranks);

/// One direction of a dedicated link between two chips, for representative chips.
sim::LinkSpec link_of(const hardware::Chip& chip);

/// The ports of chips on a switch.
sim::SwitchSpec switch_of(const hardware::Chip& chip);

/// Representative chips of a program, with HBMs if wire buffers are there: linked to each other or,
/// if the chips of `config` are, on a switch.
sim::Machine representative_of(const collectives::Program& program,
                               const config::ExperimentConfig& config);

/// Name of the other end of the ports of a network, as LinkSpec::from or LinkSpec::to.
inline constexpr std::string_view kNetwork = "network";

/// Adds HBMs shared by DMAs and cores, if wire buffers are in HBM.
void share_hbm(const config::ExperimentConfig& config, sim::Machine& machine);

/// True if representative chips are simulated, decided without enumerating chips.
bool has_representatives(config::Algorithm algorithm, const config::ExperimentConfig& config);

/// Checks that this computer can hold the machine, before it or its program is created. Infeasible
/// if all chips are simulated and need more memory than is available.
Expected<void> check_machine_memory(config::Algorithm algorithm, const collectives::RankGrid& grid,
                                    const config::ExperimentConfig& config,
                                    RunProfile profile = RunProfile::single);

/// Plans representative chips if they have the timing of all chips and the configuration permits
/// it. Infeasible if the configuration requires them and there are none. `by_slice`: one slice may
/// stand for all, because the direct engine simulates it and no trace shows single chips.
Expected<SimulatedMachine> plan_machine(config::Algorithm algorithm,
                                        const collectives::Program& program,
                                        MachineContext& context, bool by_slice);

/// Lets the direct engine simulate one chip of each class, if the chips of the machine share links or are
/// representative chips, all alike.
void simulate_by_class(const collectives::Program& program, MachineContext& context,
                       SimulatedMachine& simulated);

}  // namespace equarx::plan
