// Tasks of a stage of a pipeline, or of all chips, in a training step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/steps/layer_tasks.hpp"
#include "models/steps/model_parts.hpp"
#include "models/steps/pipeline_schedule.hpp"
#include "models/steps/training_buffers.hpp"
#include "models/steps/training_tasks.hpp"
#include "models/steps/weight_tasks.hpp"

namespace equarx::steps {

/// A stage: its chips and its parts of the model.
struct StageSetup {
  /// Number of the stage; std::nullopt if there is only one.
  std::optional<std::uint32_t> number = std::nullopt;
  std::optional<std::uint32_t> chips = std::nullopt;  ///< index into StepGraph::chip_lists
  std::vector<ModelPart> parts;                       ///< by chunk
  std::uint32_t microbatches = 1;                     ///< per chunk
  bool sums = true;                                   ///< sums its gradients itself
};

/// Writes the tasks of a stage, action by action.
class TrainingStage {
 public:
  /// `plan` and `graph` must outlive this object.
  TrainingStage(const TrainingPlan& plan, StageSetup setup, StepGraph& graph);
  TrainingStage(const TrainingStage&) = delete;
  TrainingStage& operator=(const TrainingStage&) = delete;

  TaskWriter& tasks() { return tasks_; }
  WeightTasks& weights() { return weights_; }
  /// All weights of the stage, in the order in which the forward pass needs them.
  std::vector<WeightPart> weight_parts() const;

  /// Writers of the tasks of an action, layer by layer. `arrival`: task that receives its input;
  /// kNoTask if there is none.
  using Writers = std::vector<std::function<void()>>;
  Writers writers(const PipelineAction& action, TaskId arrival);

  /// The last task of an action whose writers have run.
  TaskId end_of(const PipelineAction& action) const;

  /// Adds the optimizer and the buffers of the states. `after`: more tasks that it waits for.
  void finish(const TaskIds& after);

 private:
  /// Passes of a microbatch through a part of the model.
  struct Flow {
    std::uint32_t microbatch = 0;
    std::uint32_t chunk = 0;
    ModelPart part;
    bool first_forward = false;   ///< first microbatch of the part
    bool first_backward = false;  ///< likewise, of its backward passes
    bool last_gradients = false;  ///< last microbatch whose gradients of weights are computed
    bool delays_weights = false;  ///< gradients of weights are computed later
    TaskId latest = kNoTask;      ///< latest task of the pass
    TaskId room = kNoTask;        ///< latest task of the stage before the pass
    TaskIds ends;                 ///< last tasks of layers, the latest last
    std::size_t seeded = 0;       ///< entries of `ends` before the first layer
    TaskIds starts;               ///< first tasks of the forward passes, by layer of the part
    TaskIds offloads;             ///< by layer of the part
    TaskIds heads;                ///< of the next token, and of each further one
    TaskId freed_head = kNoTask;  ///< task after which the weights of the head are gathered
    TaskId after_head = kNoTask;
    std::map<std::uint32_t, TaskId> head_gradients;  ///< by index in `heads`
    TaskIds delayed;  ///< last tasks of backward passes, by layer, the last layer first
    std::vector<LayerTasks::Part> parts;  ///< of the layer that is being written
    TaskIds ready;                        ///< tasks before its next part
    TaskId gathered = kNoTask;            ///< first task with room for its weights
    TaskId prepared = kNoTask;            ///< first task of its recomputation
    TaskId backward = kNoTask;            ///< first task of its backward pass
  };

  bool pipelined() const { return setup_.number.has_value(); }
  Flow& flow_of(const PipelineAction& action);
  std::string numbered(const Flow& flow, const std::string& what,
                       std::optional<std::uint32_t> layer = {}) const;
  const TrainingOperations& operations(bool first) const;
  TaskIds seed(TaskIds own) const;
  void end_layer(Flow& flow);

  /// A part of a layer's pass.
  struct LayerPart {
    Pass pass;
    std::uint32_t layer;
    std::size_t number;
    std::size_t count;
  };
  std::vector<std::vector<LayerPart>> layer_parts(std::uint32_t first, std::uint32_t end,
                                                  Pass pass) const;
  void write(Flow& flow, const LayerPart& part);

  void begin_forward(Flow& flow, TaskId arrival);
  void begin_forward_layer(Flow& flow, std::uint32_t layer);
  void end_forward_layer(Flow& flow, std::uint32_t layer);
  void end_forward(Flow& flow);
  void add_head(Flow& flow, TaskId weights);
  void finish_forward(Flow& flow);
  void begin_backward(Flow& flow, TaskId arrival);
  void begin_layers_backward(Flow& flow);
  void head_backward(Flow& flow, std::uint32_t depth);
  void begin_backward_layer(Flow& flow, std::uint32_t layer);
  void end_backward_layer(Flow& flow, std::uint32_t layer);
  void end_backward(Flow& flow);
  void reduce_head(Flow& flow, std::uint32_t depth);
  void head_weights(Flow& flow);
  void delayed_weights(Flow& flow, std::uint32_t layer);
  void embedding_gradients(Flow& flow);
  void reduce(Flow& flow, const std::string& what, const Weights& weights);

  // Modules that predict further tokens: numbered as layers after the last.
  std::uint32_t depth(const Flow& flow) const;
  bool copies_embedding() const;
  std::uint32_t module_of(std::uint32_t layer) const;
  std::size_t slot(const Flow& flow, std::uint32_t layer) const;
  std::string head_name(const Flow& flow, const std::string& what, std::size_t depth) const;
  std::string layer_name(const Flow& flow, const std::string& what, std::uint32_t layer) const;
  void begin_prediction(Flow& flow, std::uint32_t layer, TaskId weights);
  void end_prediction_backward(Flow& flow, std::uint32_t layer);

  TaskId transfer(const std::string& name, HostTransfer::Direction direction, std::uint32_t layer,
                  TaskIds after);
  workloads::LayerKind kind_of(std::uint32_t layer) const;

  const TrainingPlan& plan_;
  const Training& training_;
  StageSetup setup_;
  TaskWriter tasks_;
  LayerTasks layers_;
  WeightTasks weights_;
  TrainingBuffers buffers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Flow> flows_;  ///< by microbatch and chunk
  std::vector<std::uint32_t> forwards_;                            ///< begun, by chunk
  std::vector<std::uint32_t> backwards_;                           ///< likewise
  std::vector<std::uint32_t> weight_passes_;  ///< passes with gradients of weights, likewise
  TaskIds history_;                           ///< last tasks of layers and tables
  TaskId latest_ = kNoTask;                   ///< latest task of any pass
  TaskId first_backward_ = kNoTask;           ///< of the first microbatch
};

}  // namespace equarx::steps
