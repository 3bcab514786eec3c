// Concurrent execution of several programs and other work on the same chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A program run by groups of chips, each group independently.
struct PlacedProgram {
  const collectives::Program* program = nullptr;
  const Costs* costs = nullptr;
  /// By chip, its rank in the program. Empty if the program is uniform.
  std::vector<collectives::Rank> rank_of_chip = {};
  /// What a protocol adds to the machine, whose links have the rate and latency of the fastest: time
  /// of every message by channel, in s, none if empty; and bytes on the links per byte of a message.
  std::vector<double> latency_s = {};
  double bytes_of_byte = 1.0;
};

/// Core work that overlaps an HBM access; done when both are.
struct HbmWork {
  std::uint64_t hbm_bytes = 0;
  double core_s = 0.0;
  double before_s = 0.0;  ///< core time before both start
};

/// Instructions of a program that a task runs. The sends and the waits of a program may be run by two
/// streams.
enum class ProgramPart : std::uint8_t { all, sends, waits };

/// One execution of a task by a stream of every chip, or of some chips: a run of a program, core
/// work, or a host transfer.
struct TaskRun {
  std::uint32_t task = 0;                   ///< task number
  std::vector<std::uint32_t> after = {};    ///< tasks of other streams that must finish first
  std::optional<std::size_t> program = {};  ///< index into StepProgram::programs
  ProgramPart part = ProgramPart::all;      ///< of the program
  /// Index into StepProgram::chip_sets; all chips if absent. The others skip the task, and awaiting
  /// it.
  std::optional<std::uint32_t> chips = {};
  double core_s = 0.0;  ///< core work
  std::vector<HbmWork> with_hbm =
      {};               ///< core work with HBM accesses, in sequence, if DMAs share HBM
  double host_s = 0.0;  ///< host transfer
};

/// The work of every chip. The machine has the channels of all programs, concatenated
/// (first_channels()).
struct StepProgram {
  std::vector<PlacedProgram> programs = {};        ///< each part run by only one stream
  std::vector<std::vector<bool>> chip_sets = {};   ///< by chip: true if it belongs to the set
  std::vector<std::vector<TaskRun>> streams = {};  ///< tasks in execution order
  std::uint32_t tasks = 0;                         ///< number of tasks; task numbers are below it
};

/// Mark of the start of a task, once its dependencies are done.
inline std::uint32_t start_mark(std::uint32_t task) { return 2 * task; }
/// Mark of the end of a task.
inline std::uint32_t end_mark(std::uint32_t task) { return 2 * task + 1; }

/// Returns, by program, the number of its first channel.
std::vector<collectives::ChannelId> first_channels(const StepProgram& work);

/// True if a chip runs a task.
bool runs_on(const StepProgram& work, const TaskRun& run, std::uint32_t chip);

/// Returns, by chip, the number of its instruction streams: equal for chips with equal streams, in the
/// order of their first chips.
std::vector<std::uint32_t> chip_kinds(const StepProgram& work, std::uint32_t chips);

/// Builds the timelines of `chips` chips. Instruction ids are task numbers; messages are numbered
/// consecutively over the programs.
/// @throws std::logic_error if a part of a program is run by several streams, or a task depends on an
///         unknown task
Timelines make_timelines(const StepProgram& work, std::uint32_t chips);

}  // namespace equarx::sim
