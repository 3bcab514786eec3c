// A step as data: the graph of tasks that chips run once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/exceptions/exceptions.hpp"
#include "models/collectives/program.hpp"
#include "models/formats/block_format.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::steps {

/// Work of the core: operations, run one after the other.
struct Computation {
  std::vector<workloads::Operation> operations;
  /// Model FLOPs among the FLOPs of the GEMMs: recomputation is not counted.
  double model_flops = 0.0;
  double seconds = 0.0;  ///< core time given explicitly, in addition to the operations
};

/// Lists of chip numbers of a mesh (Mesh::chip()): groups, or (sender, receiver) pairs.
struct ChipLists {
  std::string name;  ///< unique within the step
  std::vector<std::vector<std::uint32_t>> lists;

  bool operator==(const ChipLists&) const = default;
};

/// Explicit groups of chips that need not lie along mesh axes, each in rank order.
struct ListedGroups {
  /// Index into StepGraph::chip_lists; no chip is in two groups (group_error()). Chips in no group
  /// skip the collective.
  std::uint32_t lists = 0;
  std::uint32_t size = 0;  ///< chips per group

  bool operator==(const ListedGroups&) const = default;
};

/// A collective within groups of chips. A group is the set of chips that differ only along `axes`,
/// or one of the listed `groups`. All groups run at the same time.
struct CollectiveCall {
  collectives::Collective collective = collectives::Collective::all_reduce;
  /// Indices of mesh axes, ascending and unique; empty if the groups are listed.
  std::vector<std::size_t> axes = {};
  std::optional<ListedGroups> groups = std::nullopt;
  /// Elements of V (collectives::Collective), above 0: the input of each rank to an AllReduce, the
  /// result of each rank after an AllGather.
  std::uint64_t elements = 0;
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;

  bool operator==(const CollectiveCall&) const = default;
};

/// Point-to-point messages like XLA's collective-permute: each chip sends to at most one chip and
/// receives from at most one. Chips that do neither skip it.
struct Permute {
  /// Index into StepGraph::chip_lists; (sender, receiver) pairs (pair_error()).
  std::uint32_t pairs = 0;
  std::uint64_t bytes = 0;  ///< per sender, above 0
  /// False: only senders run the task, and a Receive waits for the messages.
  bool waits = true;

  bool operator==(const Permute&) const = default;
};

/// Index into StepGraph::tasks.
using TaskId = std::uint32_t;
/// Index into StepGraph::streams.
using StreamId = std::uint32_t;

/// The receivers of a permute that does not wait, waiting for its messages.
struct Receive {
  TaskId permute = 0;  ///< task of the permute; each has exactly one Receive
};

/// Transfer between a chip's HBM and host memory.
struct HostTransfer {
  enum class Direction : std::uint8_t { to_host, from_host };
  Direction direction = Direction::to_host;
  double bytes = 0.0;  ///< per chip, above 0
};

/// A node of the graph.
struct Task {
  std::string name;   ///< unique within the graph
  std::string group;  ///< label for reports: "forward", "gather weights"
  StreamId stream = 0;
  std::variant<Computation, CollectiveCall, Permute, HostTransfer, Receive> work;
  /// Explicit dependencies; the preceding task of the stream is implicit. A chip waits for the
  /// ones that it runs.
  std::vector<TaskId> after;
  /// Index into StepGraph::chip_lists: the chips of its lists run the task, the others skip it
  /// (roles.hpp). A collective has whole groups along its axes. Absent for permutes, receives and
  /// listed groups, which name their chips.
  std::optional<std::uint32_t> chips = std::nullopt;
};

/// Use of a buffer in HBM.
enum class BufferUse : std::uint8_t {
  weights,
  gradients,
  optimizer,
  gathered,
  activations,
  logits,
};

/// Memory in the HBM of every chip, or of some.
struct Buffer {
  BufferUse use = BufferUse::activations;
  double bytes = 0.0;
  /// Alive from the start of task `first` to the end of task `last`.
  TaskId first = 0;
  TaskId last = 0;
  /// As Task::chips; tasks of other chips than these do not count.
  std::optional<std::uint32_t> chips = std::nullopt;
};

/// Tasks that every chip runs once, unless it skips them. The tasks of a stream run in the listed
/// order, one at a time.
/// Streams run concurrently and share the core, HBM and links of the chip.
struct StepGraph {
  std::vector<std::string> streams;  ///< unique names
  std::vector<Task> tasks;
  std::vector<ChipLists> chip_lists = {};  ///< referenced by tasks
  std::vector<Buffer> buffers = {};        ///< empty if memory is not accounted for
};

/// Returns the id of the stream called `name`, which is added if absent.
StreamId stream_id(StepGraph& graph, const std::string& name);

/// Invalid step graph. The message names the task.
class StepError : public exceptions::UserError {
 public:
  StepError(TaskId task, std::string message) : UserError("", std::move(message)), task_(task) {}

  TaskId task() const { return task_; }  ///< the offending task

 private:
  TaskId task_;
};

/// @throws StepError if a task refers to an unknown stream or task, has a duplicate name, or is
/// part of a dependency cycle (the message lists the cycle), and if a permute that does not wait has
/// no Receive or several
/// @throws std::logic_error if the graph has no tasks or no streams
void validate(const StepGraph& graph);

/// Returns the dependencies of each task: its `after` and the preceding task of its stream; of tasks
/// that chips skip, the preceding ones on all chips that run it.
std::vector<std::vector<TaskId>> predecessors(const StepGraph& graph);

/// Start and end of a task, in seconds from the start of the step.
struct TaskTime {
  double start_s = 0.0;
  double end_s = 0.0;
};

/// Returns the critical path, in order: the task that ends last, preceded by its predecessor that
/// ends last, and so on. `times` is indexed by task.
std::vector<TaskId> critical_path(const StepGraph& graph, const std::vector<TaskTime>& times);

/// Returns the length of the longest path, a lower bound of the step time, if task i takes
/// `seconds[i]`. `runs`: by task, false if a chip skips it; empty if it runs all.
double longest_path_s(const StepGraph& graph, const std::vector<double>& seconds,
                      const std::vector<bool>& runs = {});

}  // namespace equarx::steps
