// Simulation of the timing of a program, without tensor values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "models/collectives/program.hpp"
#include "sim/classes.hpp"
#include "sim/machine.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// Simulation engine. Both run the same timelines and agree to 1e-9, as verified by tests.
enum class Engine : std::uint8_t {
  simgrid,  ///< reference: every chip an actor on SimGrid
  direct,   ///< fast: built-in event loop, links in closed form or max-min fair
};

/// Returns "simgrid" or "direct".
std::string_view name(Engine engine);

/// False for SimGrid in builds without it.
bool is_available(Engine engine);

/// Returns a reason why the direct engine does not support a machine; empty if it does. SimGrid
/// supports all.
std::string why_not_direct(const Machine& machine);

/// Progress callback with the number of messages received so far; called occasionally by the
/// simulating thread.
using Watch = std::function<void(std::uint64_t)>;

/// Describes an instruction of a stream for error messages; may return an empty string.
using Describe =
    std::function<std::string(std::uint32_t stream, collectives::InstructionId instruction)>;

/// Options of a simulation.
struct SimulationOptions {
  bool traced = false;  ///< record a trace
  Engine engine = Engine::simgrid;
  Watch watch = {};  ///< progress callback; does not affect the result
  /// Classes by machine and timelines: the direct engine simulates one chip of each, and the result is
  /// for all chips. Without effect with a trace or failures.
  std::shared_ptr<const MachineByClass> by_class = nullptr;
  /// The direct engine passes over periods of streams in which its state repeats: times then hold to
  /// 1e-9. Without effect with a trace, failures, shared links or HBMs, or a single stream.
  bool jumps = false;
  /// Most threads of the direct engine, at least 1; more than one are used for many messages if chips
  /// run ahead of each other. The result does not depend on it.
  unsigned threads = 1;
};

/// Simulates `program` on all chips of `machine` with the given `costs`. Every chip runs its
/// instruction stream in order; a send is an asynchronous DMA; transfers of a pair of chips are
/// FIFO, and pairs share links max-min fairly; a wait blocks the core until the arrival.
///
/// A uniform program may have more ranks than the machine (see representative()). A link failure
/// that affects a transfer ends the run and is reported in the result.
///
/// The direct engine is reentrant. SimGrid supports one engine per process, so each simulation runs
/// in a forked child: must not be called while the calling process has other threads.
/// @throws exceptions::InvariantError if the simulation deadlocks or crashes, naming the chips and
///         their instructions.
/// @throws std::logic_error if costs contain HBM bytes and the machine has no HBMs
TimeResult simulate(const collectives::Program& program, const Machine& machine, const Costs& costs,
                    const SimulationOptions& options = {});

/// Likewise for existing timelines. `describe` describes their instructions in error messages.
TimeResult simulate(const Timelines& timelines, const Machine& machine, const Describe& describe,
                    const SimulationOptions& options = {});

}  // namespace equarx::sim
