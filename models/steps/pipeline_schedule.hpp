// Schedules of pipeline parallelism: the order in which each stage computes its microbatches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace equarx::steps {

/// Published schedules.
enum class PipelineKind : std::uint8_t {
  gpipe,  ///< all forward passes, then all backward passes (Huang et al., arXiv 1811.06965)
  one_forward_one_backward,  ///< PipeDream-flush (Narayanan et al., arXiv 2006.09503)
  interleaved,  ///< the same with several chunks per stage (Narayanan et al., arXiv 2104.04473)
  zero_bubble,  ///< ZB-H1: delayed weight gradients (Qi et al., arXiv 2401.10241)
  dual_pipe,    ///< both directions at once (DeepSeek-V3, arXiv 2412.19437)
};

/// Stages and microbatches of a pipeline.
struct PipelineShape {
  PipelineKind kind = PipelineKind::one_forward_one_backward;
  std::uint32_t stages = 1;
  std::uint32_t microbatches = 1;
  std::uint32_t chunks = 1;  ///< parts of the model per stage; `interleaved` only

  /// Consecutive parts into which the model is divided. With `dual_pipe` a stage has two of them,
  /// and each is on two stages.
  std::uint32_t parts() const { return stages * chunks; }
  /// Parts of the model per stage.
  std::uint32_t chunks_of_stage() const { return kind == PipelineKind::dual_pipe ? 2 : chunks; }
};

/// Returns why a shape is invalid, with a remedy, or an empty string.
std::string pipeline_error(const PipelineShape& shape);

/// A part of the model on a stage.
struct PipelinePlace {
  std::uint32_t stage = 0;
  std::uint32_t chunk = 0;

  bool operator==(const PipelinePlace&) const = default;
};

/// Stage and chunk that compute a part for a microbatch. With `dual_pipe` odd microbatches enter at
/// the last stage.
PipelinePlace place_of(const PipelineShape& shape, std::uint32_t part, std::uint32_t microbatch);

/// The part of the model of a chunk.
std::uint32_t part_at(const PipelineShape& shape, const PipelinePlace& place);

/// Work of a stage.
enum class ActionKind : std::uint8_t {
  forward,
  backward,          ///< all gradients
  input_gradients,   ///< of the activations only
  weight_gradients,  ///< the rest of `input_gradients`
};

/// A pass of a microbatch through a chunk of a stage.
struct PipelineAction {
  ActionKind kind = ActionKind::forward;
  std::uint32_t microbatch = 0;
  std::uint32_t chunk = 0;
  /// The layers of this action alternate with those of the next (`dual_pipe`).
  bool alternates = false;

  bool operator==(const PipelineAction&) const = default;
};

/// Returns the actions of each stage in the order of execution.
/// @throws std::invalid_argument if pipeline_error() finds the shape invalid
std::vector<std::vector<PipelineAction>> pipeline_actions(const PipelineShape& shape);

}  // namespace equarx::steps
