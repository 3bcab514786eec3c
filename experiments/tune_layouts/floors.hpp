// Lower bounds of the memory and of the time of a layout, without its tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "experiments/tune_layouts/collective_floors.hpp"
#include "models/steps/degrees.hpp"
#include "models/steps/model_parts.hpp"
#include "models/steps/pipeline_schedule.hpp"
#include "models/steps/training_tasks.hpp"
#include "models/workloads/roofline.hpp"

namespace equarx::tune_layouts {

/// Bounds of one layout.
class Floors {
 public:
  /// `training`: with any schedule but "dualpipe". All must outlive this object.
  /// @throws std::invalid_argument if the model cannot be divided
  Floors(const steps::Training& training, const steps::Mesh& mesh,
         const workloads::ComputeRates& rates, CollectiveFloors& collectives);

  /// Bytes that a chip of some stage needs at least: states, activations kept for microbatches under
  /// way, and the buffers of the layer in work, if all layers are alike.
  double memory_bytes() const;

  /// Least time of the step in s, the largest of: the passes of a stage in the order of the schedule, each
  /// at the least time of its operations and of the collectives over "tensor" between them, after the
  /// passes that it awaits; the gathers or scatters over "fsdp" of a stage; the sums of gradients of
  /// a stage, after the start of its last pass.
  double time_s();

 private:
  /// Times of a pass in s: from its input to its first operation, to the end of its last one, to its
  /// result.
  struct Pass {
    double before_s = 0.0;
    double core_s = 0.0;
    double after_s = 0.0;
  };
  struct Stage {
    double free_s = 0.0;  ///< end of the latest operation
    std::vector<double>
        last_weights_s;    ///< start of the latest pass with gradients of weights, by chunk
    std::size_t next = 0;  ///< action
  };
  /// Ends of passes in s, by message(); below 0: not yet sent.
  using Sent = std::vector<double>;

  /// Index of the message to a part.
  std::size_t message(bool forward, std::uint32_t microbatch, std::uint32_t part) const;
  bool advance(std::uint32_t stage, Stage& state, Sent& sent);
  const Pass& pass_of(steps::ActionKind kind, std::uint32_t part);
  double layer_s(steps::ActionKind kind, std::uint32_t layer);
  double tables_s(steps::ActionKind kind, const steps::ModelPart& part) const;
  double seconds(const std::vector<workloads::Operation>& first,
                 const std::vector<workloads::Operation>& later, steps::ActionKind kind) const;
  std::vector<steps::ModelPart> parts_of(std::uint32_t stage) const;
  std::uint32_t layers_of(std::uint32_t stage) const;
  steps::Weights least_layer_weights() const;
  double optimizer_s(std::uint32_t stage) const;
  double weights_s(std::uint32_t stage);
  double sums_s(std::uint32_t stage);

  const steps::Training& training_;
  const steps::Mesh& mesh_;
  const workloads::ComputeRates& rates_;
  CollectiveFloors& collectives_;
  steps::TrainingPlan plan_;
  steps::PipelineShape shape_;
  std::vector<steps::ModelPart> parts_;
  std::vector<std::vector<steps::PipelineAction>> actions_;  ///< by stage
  double before_half_s_ = 0.0;  ///< collective before a half of a layer
  double after_half_s_ = 0.0;   ///< collective after it
  std::map<std::pair<steps::ActionKind, std::uint32_t>, Pass> passes_;    ///< by part
  std::map<std::pair<steps::ActionKind, std::size_t>, double> layers_s_;  ///< by kind of layer
};

}  // namespace equarx::tune_layouts
