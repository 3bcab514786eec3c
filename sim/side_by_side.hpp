// Several programs on the same chips, beside each other and beside other work of their cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A program that the chips of a machine run in groups, each group by itself.
struct PlacedProgram {
  const collectives::Program* program = nullptr;
  const Costs* costs = nullptr;
  /// By chip, which of the program's ranks it is. Empty if the program is uniform, and all do the same.
  std::vector<collectives::Rank> rank_of_chip = {};
};

/// Work of a core that also reads HBM and writes to it: until both are done.
struct HbmWork {
  std::uint64_t hbm_bytes = 0;
  double core_s = 0.0;
  double before_s = 0.0;  ///< core time before both
};

/// A piece of work that a stream of every chip does: one of a run of a program, work of the core, or a transfer to or
/// from the host.
struct TaskRun {
  std::uint32_t task = 0;                   ///< its number
  std::vector<std::uint32_t> after = {};    ///< tasks of other streams that it waits for
  std::optional<std::size_t> program = {};  ///< index into SideBySide::programs
  double core_s = 0.0;                      ///< of the core
  std::vector<HbmWork> with_hbm =
      {};               ///< of the core, too, where DMAs take of HBM: one after the other
  double host_s = 0.0;  ///< of a transfer
};

/// What every chip does. The channels of a machine that runs it are those of the programs, one program after the other
/// (first_channels()).
struct SideBySide {
  std::vector<PlacedProgram> programs = {};        ///< each is run by one stream only
  std::vector<std::vector<TaskRun>> streams = {};  ///< each in its order
  std::uint32_t tasks = 0;                         ///< their numbers are below this
};

/// Marks of a task: when it began, all that it waits for being done, and when it ended.
inline std::uint32_t start_mark(std::uint32_t task) { return 2 * task; }
/// See start_mark().
inline std::uint32_t end_mark(std::uint32_t task) { return 2 * task + 1; }

/// By program, the number of its first channel.
std::vector<collectives::ChannelId> first_channels(const SideBySide& work);

/// Timelines of `chips` chips. An instruction is the number of its task; messages are numbered one program after the
/// other. @throws std::logic_error if a program is run by several streams, or what is waited for is nobody's task
Timelines make_timelines(const SideBySide& work, std::uint32_t chips);

}  // namespace equarx::sim
