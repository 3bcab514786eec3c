// A step as data: what every chip does once, as a graph of tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/formats/block_format.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::steps {

/// What a chip's core does: operations, one after the other.
struct Computation {
  std::vector<workloads::Operation> operations;
  /// Of the FLOPs of their matrix products, those that the model asks for: not what is computed a second time
  /// because it was not kept.
  double model_flops = 0.0;
  double seconds =
      0.0;  ///< core time that is given instead of being derived; besides that of the operations
};

/// Lists of chips by their number in a mesh (Mesh::chip()): groups, or pairs of which the first sends to the second.
struct ChipLists {
  std::string name;  ///< no others of the step have it
  std::vector<std::vector<std::uint32_t>> lists;

  bool operator==(const ChipLists&) const = default;
};

/// Groups of chips that are no axes of a mesh, each in the order of its ranks.
struct ListedGroups {
  std::uint32_t lists =
      0;  ///< index into StepGraph::chip_lists: every chip is in one group (why_no_groups())
  std::uint32_t size = 0;  ///< chips of each group

  bool operator==(const ListedGroups&) const = default;
};

/// A collective within groups of chips: every group is the chips that differ along these axes of the mesh only, or is
/// listed. All groups do it at once.
struct CollectiveCall {
  collectives::Collective collective = collectives::Collective::all_reduce;
  std::vector<std::size_t> axes =
      {};  ///< of the mesh, rising; none twice; none if the groups are listed
  std::optional<ListedGroups> groups = std::nullopt;
  /// Of V (collectives::Collective): what every rank brings to an AllReduce, or has after an AllGather. Above 0.
  std::uint64_t elements = 0;
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;

  bool operator==(const CollectiveCall&) const = default;
};

/// Bytes from chip to chip, as XLA's collective-permute sends them: no chip sends to two, or receives from two.
struct Permute {
  std::uint32_t pairs = 0;  ///< index into StepGraph::chip_lists: from and to (why_no_pairs())
  std::uint64_t bytes = 0;  ///< that each sender sends, above 0

  bool operator==(const Permute&) const = default;
};

/// Bytes between a chip's HBM and the memory of its host.
struct HostTransfer {
  enum class Direction : std::uint8_t { to_host, from_host };
  Direction direction = Direction::to_host;
  double bytes = 0.0;  ///< of each chip, above 0
};

/// Index into StepGraph::tasks.
using TaskId = std::uint32_t;
/// Index into StepGraph::streams.
using StreamId = std::uint32_t;

/// One piece of work.
struct Task {
  std::string name;   ///< no other task has it
  std::string group;  ///< what it is reported with: "forward", "gather weights"
  StreamId stream = 0;
  std::variant<Computation, CollectiveCall, Permute, HostTransfer> work;
  std::vector<TaskId> after;  ///< what it waits for, besides what its stream was given before it
};

/// What every chip does once. The tasks of a stream are carried out in the order in which they are listed, one after
/// the other; streams go on side by side, and share the chip's core, HBM and links.
struct StepGraph {
  std::vector<std::string> streams;  ///< names, none twice
  std::vector<Task> tasks;
  std::vector<ChipLists> chip_lists = {};  ///< that tasks name
};

/// The stream of a name, which is added if it is not there.
StreamId stream_id(StepGraph& graph, const std::string& name);

/// A graph that cannot be carried out.
class StepError : public std::invalid_argument {
 public:
  StepError(TaskId task, const std::string& message)
      : std::invalid_argument(message), task_(task) {}

  TaskId task() const { return task_; }  ///< that is to blame

 private:
  TaskId task_;
};

/// @throws StepError if a task names a stream or task that is not there, has a name that another has, or waits for
/// itself: then the message has the way round.
/// @throws std::logic_error if there are no tasks, or streams
void validate(const StepGraph& graph);

/// What each task waits for: what it names, and what its stream was given before it.
std::vector<std::vector<TaskId>> predecessors(const StepGraph& graph);

/// When a task began and ended, in seconds from the start of the step.
struct TaskTime {
  double start_s = 0.0;
  double end_s = 0.0;
};

/// The tasks that the end of the step hung on, from first to last: the last that ended, that of its predecessors which
/// ended last, and so on. `times`: by task.
std::vector<TaskId> critical_path(const StepGraph& graph, const std::vector<TaskTime>& times);

/// How long the step takes at least if task i takes `seconds[i]`: its longest path.
double longest_path_s(const StepGraph& graph, const std::vector<double>& seconds);

}  // namespace equarx::steps
