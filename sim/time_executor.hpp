// Runs a program in simulated time, without tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A simulation that did not come to its end: a defect of ours. Says which chip was where.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What moves the clock. Both run the same timelines, and tests hold their results equal to 1e-9.
enum class Engine : std::uint8_t {
  simgrid,  ///< every chip an actor on SimGrid: what is right
  direct,   ///< every chip a list of steps, links in closed form or max-min fair: what is fast
};

/// "simgrid" or "direct".
std::string_view name(Engine engine);

/// Why the direct engine does not know how to run on a machine; empty if it does. SimGrid does anyhow.
std::string why_not_direct(const Machine& machine);

/// Called now and then, by the thread that simulates, with the messages that have been received so far.
using Watch = std::function<void(std::uint64_t)>;

/// What a stream of a chip does in an instruction, for people; empty if that is nothing to speak of.
using Describe =
    std::function<std::string(std::uint32_t stream, collectives::InstructionId instruction)>;

/// What is simulated besides the program once, and by what.
struct SimulationOptions {
  Schedule schedule = {};  ///< of a program: once, by default
  bool traced = false;     ///< keep a trace
  Engine engine = Engine::simgrid;
  Watch watch = {};  ///< for who waits; it changes nothing
};

/// Runs `program` on all chips of `machine` in the simulated time that its links and `costs` take. Every
/// chip runs its list in order; a send is an asynchronous DMA, links are FIFO servers for each pair of
/// chips, which share them max-min fairly; a wait blocks the core until the arrival.
///
/// A uniform program may be written for more ranks than the machine has (see representative()).
/// A link that fails while a transfer needs it ends the run; the result says where.
///
/// The direct engine may run any number of times at once. SimGrid has one engine in a process, ever, so
/// that forks one and waits for it: not to be called while the calling process has other threads.
/// @throws SimulationError if the simulation deadlocks or crashes, naming the chip and the instruction.
/// @throws std::logic_error if costs have bytes of HBM and the machine has none
TimeResult simulate(const collectives::Program& program, const Machine& machine, const Costs& costs,
                    const SimulationOptions& options = {});

/// The same of timelines that are made already. Their instructions mean what `describe` says.
TimeResult simulate(const Timelines& timelines, const Machine& machine, const Describe& describe,
                    const SimulationOptions& options = {});

}  // namespace equarx::sim
