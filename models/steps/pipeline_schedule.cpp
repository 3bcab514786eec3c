#include "models/steps/pipeline_schedule.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::steps {
namespace {

using Actions = std::vector<PipelineAction>;

Actions gpipe(const PipelineShape& shape) {
  Actions actions;
  for (std::uint32_t i = 0; i < shape.microbatches; ++i)
    actions.push_back({ActionKind::forward, i, 0});
  for (std::uint32_t i = shape.microbatches; i-- > 0;)
    actions.push_back({ActionKind::backward, i, 0});
  return actions;
}

/// Forward passes until the first gradient arrives, then one of each in turn. The k-th pass of
/// chunks computes `stages` microbatches of one chunk before it goes on to the next, as Megatron-LM.
Actions one_by_one(const PipelineShape& shape, std::uint32_t stage) {
  const std::uint32_t passes = shape.microbatches * shape.chunks;
  const std::uint32_t after = shape.stages - stage - 1;
  const std::uint32_t warmup =
      std::min(passes, shape.chunks == 1 ? after : 2 * after + (shape.chunks - 1) * shape.stages);
  const auto action = [&](ActionKind kind, std::uint32_t pass) {
    if (shape.chunks == 1) return PipelineAction{kind, pass, 0};
    const std::uint32_t chunk = pass % shape.parts() / shape.stages;
    return PipelineAction{kind, pass / shape.parts() * shape.stages + pass % shape.stages,
                          kind == ActionKind::forward ? chunk : shape.chunks - 1 - chunk};
  };
  Actions actions;
  for (std::uint32_t i = 0; i < warmup; ++i) actions.push_back(action(ActionKind::forward, i));
  for (std::uint32_t i = 0; i < passes; ++i) {
    if (warmup + i < passes) actions.push_back(action(ActionKind::forward, warmup + i));
    actions.push_back(action(ActionKind::backward, i));
  }
  return actions;
}

/// 1F1B whose stage s computes the gradients of weights s microbatches late, so that all stages keep
/// as many microbatches as its first.
Actions zero_bubble(const PipelineShape& shape, std::uint32_t stage) {
  Actions actions;
  for (PipelineAction action : one_by_one(shape, stage)) {
    const bool backward = action.kind == ActionKind::backward;
    if (backward) action.kind = ActionKind::input_gradients;
    actions.push_back(action);
    if (backward && action.microbatch >= stage)
      actions.push_back({ActionKind::weight_gradients, action.microbatch - stage, 0});
  }
  const std::uint32_t late = std::min(stage, shape.microbatches);
  for (std::uint32_t i = shape.microbatches - late; i < shape.microbatches; ++i)
    actions.push_back({ActionKind::weight_gradients, i, 0});
  return actions;
}

/// A stage of DualPipe, in the eight steps of github.com/deepseek-ai/DualPipe. The `near` direction
/// enters at the stage's own end of the pipeline, the other at the far end.
class DualPipe {
 public:
  DualPipe(const PipelineShape& shape, std::uint32_t stage)
      : swaps_(stage >= shape.stages / 2),
        to_end_(std::min(stage, shape.stages - 1 - stage)),
        to_middle_(shape.stages / 2 - 1 - to_end_),
        overlapped_(shape.microbatches / 2 - shape.stages + to_end_ + 1) {}

  Actions actions() && {
    warm_up();
    for (std::uint32_t i = 0; i < overlapped_; ++i) {
      forward(kNear, to_middle_ > 0 || i > 0);
      backward(kFar);
      forward(kFar, true);
      backward(kNear);
    }
    for (std::uint32_t i = 0; i < to_middle_; ++i) {
      backward(kFar);
      forward(kFar, true);
      backward(kNear);
    }
    cool_down();
    return std::move(actions_);
  }

 private:
  static constexpr std::uint32_t kNear = 0;
  static constexpr std::uint32_t kFar = 1;

  void warm_up() {
    for (std::uint32_t i = 0; i < 2 * to_middle_; ++i) forward(kNear);
    for (std::uint32_t i = 0; i <= to_end_; ++i) {
      forward(kNear);
      forward(kFar);
    }
    for (std::uint32_t i = 0; i < to_middle_; ++i) {
      backward(kFar, true);
      late_weights();
      forward(kFar);
    }
  }

  void cool_down() {
    const std::uint32_t pairs = to_end_ + 1;
    const bool odd = to_end_ % 2 == 1;
    for (std::uint32_t i = 0; i < pairs; ++i) {
      backward(kFar, i > pairs / 2 || (i == pairs / 2 && odd));
      backward(kNear, i >= pairs / 2);
    }
    for (std::uint32_t i = 0; i < to_middle_; ++i) {
      late_weights();
      backward(kNear, true);
    }
    while (!late_.empty()) late_weights();
  }

  PipelineAction next(ActionKind kind, std::uint32_t& count, std::uint32_t side) const {
    const std::uint32_t direction = swaps_ ? 1 - side : side;
    return {kind, 2 * count++ + direction, direction};
  }

  void forward(std::uint32_t side, bool alternates = false) {
    actions_.push_back(next(ActionKind::forward, forwards_[side], side));
    actions_.back().alternates = alternates;
  }

  void backward(std::uint32_t side, bool delays_weights = false) {
    actions_.push_back(next(delays_weights ? ActionKind::input_gradients : ActionKind::backward,
                            backwards_[side], side));
    if (delays_weights) late_.push_back(actions_.back());
  }

  void late_weights() {
    actions_.push_back(late_.front());
    actions_.back().kind = ActionKind::weight_gradients;
    late_.pop_front();
  }

  bool swaps_;                ///< second half of the stages
  std::uint32_t to_end_;      ///< stages between this one and its end of the pipeline
  std::uint32_t to_middle_;   ///< stages between this one and the middle
  std::uint32_t overlapped_;  ///< pairs of passes in both directions
  std::array<std::uint32_t, 2> forwards_ = {};
  std::array<std::uint32_t, 2> backwards_ = {};
  std::deque<PipelineAction> late_;  ///< without the gradients of their weights
  Actions actions_;
};

Actions actions_of(const PipelineShape& shape, std::uint32_t stage) {
  switch (shape.kind) {
    case PipelineKind::gpipe: return gpipe(shape);
    case PipelineKind::one_forward_one_backward:
    case PipelineKind::interleaved: return one_by_one(shape, stage);
    case PipelineKind::zero_bubble: return zero_bubble(shape, stage);
    case PipelineKind::dual_pipe: return DualPipe(shape, stage).actions();
  }
  throw std::logic_error("unknown pipeline schedule");
}

}  // namespace

std::string pipeline_error(const PipelineShape& shape) {
  if (shape.chunks > 1 && shape.kind != PipelineKind::interleaved)
    return fmt::format("{} chunks per stage need the schedule \"interleaved\"", shape.chunks);
  if (shape.kind == PipelineKind::interleaved && shape.microbatches % shape.stages != 0)
    return fmt::format(
        "\"interleaved\" needs a multiple of {} microbatches on {} stages, not {}; use {}",
        shape.stages, shape.stages, shape.microbatches,
        (shape.microbatches / shape.stages + 1) * shape.stages);
  if (shape.kind != PipelineKind::dual_pipe) return {};
  if (shape.stages % 2 != 0)
    return fmt::format("\"dualpipe\" needs an even number of stages, not {}", shape.stages);
  const std::uint32_t least = 2 * shape.stages;
  if (shape.microbatches % 2 != 0 || shape.microbatches < least)
    return fmt::format(
        "\"dualpipe\" needs an even number of microbatches, at least {} on {} stages, not {}; use "
        "{}",
        least, shape.stages, shape.microbatches,
        std::max(least, shape.microbatches + shape.microbatches % 2));
  return {};
}

PipelinePlace place_of(const PipelineShape& shape, std::uint32_t part, std::uint32_t microbatch) {
  if (shape.kind != PipelineKind::dual_pipe) return {part % shape.stages, part / shape.stages};
  const std::uint32_t direction = microbatch % 2;
  return {direction == 0 ? part : shape.stages - 1 - part, direction};
}

std::uint32_t part_at(const PipelineShape& shape, const PipelinePlace& place) {
  if (shape.kind != PipelineKind::dual_pipe) return place.chunk * shape.stages + place.stage;
  return place.chunk == 0 ? place.stage : shape.stages - 1 - place.stage;
}

std::vector<std::vector<PipelineAction>> pipeline_actions(const PipelineShape& shape) {
  if (const std::string error = pipeline_error(shape); !error.empty())
    throw std::invalid_argument(error);
  std::vector<Actions> stages;
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage)
    stages.push_back(actions_of(shape, stage));
  return stages;
}

}  // namespace equarx::steps
