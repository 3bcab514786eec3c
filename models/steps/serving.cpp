#include "models/steps/serving.hpp"

#include <optional>
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

void check_axes(const Mesh& mesh) {
  for (const MeshAxis& axis : mesh.axes)
    if (axis.name != "data" && axis.name != "tensor")
      throw std::invalid_argument(
          fmt::format("serving supports mesh axes \"data\" and \"tensor\", not '{}'", axis.name));
}

/// Builds the tasks in execution order of the core.
class ServingBuilder {
 public:
  ServingBuilder(const Serving& serving, const Mesh& mesh)
      : serving_(serving), tensor_axis_(mesh.find("tensor")), latest_(serving.chunks) {
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
    bool sums = false;
    for (const Operation& operation : operations) {
      if (operation.kind != OperationKind::allreduce) {
        pending_.push_back(operation);
        continue;
      }
      sums = true;
      const bool ffn = operation.name.starts_with("ffn");
      const std::string name = fmt::format("{}, {}", ffn ? "FFN" : "attention", layer);
      flush(name, ffn ? "FFN" : "attention");
      sum(name);
    }
    if (!sums) flush(fmt::format("layer {}", layer), "layer");
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

  void sum(const std::string& name) {
    const CollectiveCall call{.collective = collectives::Collective::all_reduce,
                              .axes = {tensor_axis_.value()},
                              .elements = serving_.elements,
                              .dtype = serving_.dtype};
    for (std::uint32_t chunk = 0; chunk < serving_.chunks; ++chunk)
      latest_[chunk] = {add({of_chunk("sum " + name, chunk), "sum activations",
                             stream_id(graph_, "tensor"), call, latest_[chunk]})};
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
  std::optional<std::size_t> tensor_axis_;
  StepGraph graph_;
  std::vector<Part> parts_;         ///< parts before the next AllReduce
  std::vector<Operation> pending_;  ///< operations after these parts
  std::vector<TaskIds> latest_;     ///< latest task of each chunk
};

}  // namespace

StepGraph serving_step(const Serving& serving, const Mesh& mesh) {
  check_axes(mesh);
  return ServingBuilder(serving, mesh).build();
}

}  // namespace equarx::steps
