// All stages of a training step.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "models/steps/training_stage.hpp"

namespace equarx::steps {

/// Builds the graph of a step: one stage of all chips, or stages along the mesh axis "pipeline" that
/// send each other activations and their gradients.
class TrainingPipeline {
 public:
  /// Both must outlive this object. @throws std::invalid_argument as training_step()
  TrainingPipeline(const Training& training, const Mesh& mesh);
  TrainingPipeline(const TrainingPipeline&) = delete;
  TrainingPipeline& operator=(const TrainingPipeline&) = delete;

  StepGraph graph() &&;

 private:
  using Actions = std::vector<PipelineAction>;
  /// Direction, microbatch, and the part of the model that receives.
  using Message = std::tuple<bool, std::uint32_t, std::uint32_t>;

  StageSetup setup_of(std::uint32_t stage);
  void add_actions();
  bool add_next(std::uint32_t stage);
  std::optional<Message> awaited(std::uint32_t stage, const PipelineAction& action) const;
  TaskId receive(std::uint32_t stage, const PipelineAction& action);
  void send(std::uint32_t stage, const PipelineAction& action);
  double message_elements() const;
  TaskId convert(std::uint32_t stage, const std::string& name, TaskId after);
  std::vector<std::vector<std::uint32_t>> pairs(std::uint32_t from, std::uint32_t to) const;

  void gather_updated();
  std::vector<TaskIds> sum_shared_weights();
  TaskId over_stages(const std::string& name, const std::string& group,
                     collectives::Collective collective, std::uint32_t one, std::uint32_t other,
                     const std::vector<std::string>& axes, double elements, TaskIds after);

  TrainingPlan plan_;
  PipelineShape shape_;
  StepGraph graph_;
  std::vector<std::vector<std::uint32_t>> chips_;  ///< by stage, in the same order
  std::vector<ModelPart> parts_;
  std::deque<TrainingStage> stages_;
  std::vector<Actions> actions_;    ///< by stage
  std::vector<std::size_t> next_;   ///< by stage, the next action
  std::map<Message, TaskId> sent_;  ///< permutes
};

}  // namespace equarx::steps
