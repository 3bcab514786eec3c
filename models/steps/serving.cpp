#include "models/steps/serving.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace equarx::steps {
namespace {

using workloads::Operation;
using workloads::OperationKind;

void check_axes(const workloads::Transformer& model, const Mesh& mesh) {
  for (const MeshAxis& axis : mesh.axes) {
    if (axis.name == "expert" && !model.experts)
      throw std::invalid_argument(
          fmt::format("axis 'expert' divides experts, and {} has none; use \"data\" or \"tensor\"",
                      model.name));
    if (axis.name != "data" && axis.name != "tensor" && axis.name != "expert")
      throw std::invalid_argument(fmt::format(
          "serving supports mesh axes \"data\", \"tensor\" and \"expert\", not '{}'", axis.name));
  }
}

/// Builds the tasks in execution order of the core.
class ServingBuilder {
 public:
  ServingBuilder(const Serving& serving, const Mesh& mesh)
      : serving_(serving), mesh_(mesh), latest_(serving.chunks) {
    graph_.streams = {"core"};
  }

  StepGraph build() && {
    parts_ = {{"embedding", "embedding", serving_.operations.embedding}};
    for (std::uint32_t layer = 0; layer < serving_.model.layers; ++layer)
      add_layer(layer, serving_.operations.layer(layer_kind(serving_.model, layer)));
    add_head();
    validate(graph_);
    return std::move(graph_);
  }

 private:
  using TaskIds = std::vector<TaskId>;

  void add_layer(std::uint32_t layer, const std::vector<Operation>& operations) {
    bool communicates = false;
    for (const Operation& operation : operations) {
      if (overlaps_ && !operation.name.starts_with("shared"))
        flush_overlapped(fmt::format("shared experts, {}", layer));
      if (!is_collective(operation.kind)) {
        pending_.push_back(operation);
        continue;
      }
      communicates = true;
      operation.kind == OperationKind::allreduce ? add_sum(operation, layer)
                                                 : add_exchange(operation, layer);
    }
    if (!communicates) flush(fmt::format("layer {}", layer), "layer");
  }

  void add_sum(const Operation& operation, std::uint32_t layer) {
    const std::string half = operation.name.starts_with("ffn") ? "FFN" : "attention";
    const std::string name = fmt::format("{}, {}", half, layer);
    flush(name, half);
    communicate("sum " + name, "sum activations", "tensor",
                {.collective = collectives::Collective::all_reduce,
                 .elements = serving_.elements,
                 .dtype = serving_.dtype});
  }

  /// Rows to the chips of their experts, or back, of one chunk.
  void add_exchange(const Operation& operation, std::uint32_t layer) {
    const bool dispatches = operation.name == "dispatch";
    const std::string work = dispatches ? "attention" : "experts";
    const bool is_summed = dispatches && mesh_.length("tensor") > 1;  // attention is a task before
    const std::string group = is_summed ? "router" : work;
    flush(fmt::format("{}, {}", group, layer), group);
    const double width = serving_.model.d_model;
    const double rows = std::ceil(operation.collective_bytes / workloads::kActivationBytes / width /
                                  serving_.chunks);
    const std::string name(operation.name);
    communicate(fmt::format("{}, {}", name, layer), name, "expert",
                {.collective = collectives::Collective::all_to_all,
                 .elements = static_cast<std::uint64_t>(rows * width),
                 .dtype = serving_.dtype});
    overlaps_ = dispatches;
  }

  std::string of_chunk(const std::string& name, std::uint32_t chunk) const {
    return serving_.chunks == 1 ? name : fmt::format("{}, chunk {}", name, chunk);
  }

  /// Emits tasks for the pending work, chunk by chunk.
  void flush(const std::string& name, const std::string& group) {
    parts_.push_back({name, group, std::exchange(pending_, {})});
    for (std::uint32_t chunk = 0; chunk < serving_.chunks; ++chunk)
      for (const Part& part : parts_)
        latest_[chunk] = {add({of_chunk(part.name, chunk), part.group, 0,
                               work_of(part.operations, 1), latest_[chunk]})};
    parts_.clear();
  }

  /// Work of `chunks` chunks of the operations.
  Computation work_of(const std::vector<Operation>& operations, std::uint32_t chunks) const {
    Computation work;
    for (const Operation& operation : operations) {
      const Operation part = part_of(operation, serving_.chunks);
      work.operations.insert(work.operations.end(), chunks, part);
      work.model_flops += part.flops * chunks;
    }
    return work;
  }

  /// Emits tasks for the pending work that need not wait for the collective before it.
  void flush_overlapped(const std::string& name) {
    overlaps_ = false;
    if (pending_.empty()) return;
    const std::vector<Operation> operations = std::exchange(pending_, {});
    for (std::uint32_t chunk = 0; chunk < serving_.chunks; ++chunk)
      add({of_chunk(name, chunk), "shared experts", 0, work_of(operations, 1), {}});
  }

  /// Adds a collective along a mesh axis, which is also the name of its stream, for each chunk.
  void communicate(const std::string& name, const std::string& group, const std::string& axis,
                   CollectiveCall call) {
    call.axes = {mesh_.find(axis).value()};
    for (std::uint32_t chunk = 0; chunk < serving_.chunks; ++chunk)
      latest_[chunk] = {
          add({of_chunk(name, chunk), group, stream_id(graph_, axis), call, latest_[chunk]})};
  }

  void add_head() {
    for (const Operation& operation : serving_.operations.head) pending_.push_back(operation);
    TaskIds all;
    for (const TaskIds& chunk : latest_) all.insert(all.end(), chunk.begin(), chunk.end());
    add({"head", "head", 0, work_of(pending_, serving_.chunks), std::move(all)});
  }

  TaskId add(Task task) {
    graph_.tasks.push_back(std::move(task));
    return static_cast<TaskId>(graph_.tasks.size() - 1);
  }

  /// Work of one task per chunk.
  struct Part {
    std::string name;
    std::string group;
    std::vector<Operation> operations;
  };

  const Serving& serving_;
  const Mesh& mesh_;
  StepGraph graph_;
  std::vector<Part> parts_;         ///< parts before the next collective
  std::vector<Operation> pending_;  ///< operations after these parts
  std::vector<TaskIds> latest_;     ///< latest task of each chunk
  bool overlaps_ = false;           ///< after a dispatch, until shared experts end
};

}  // namespace

StepGraph serving_step(const Serving& serving, const Mesh& mesh) {
  check_axes(serving.model, mesh);
  return ServingBuilder(serving, mesh).build();
}

}  // namespace equarx::steps
