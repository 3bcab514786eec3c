// A slow reference of pipelines: executes the actions of all stages on their dependencies.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "models/steps/pipeline_schedule.hpp"

namespace equarx::testing {

/// Times of the passes of one part of the model, in s.
struct PassTimes {
  double forward = 1.0;
  double inputs = 1.0;   ///< gradients of activations
  double weights = 1.0;  ///< gradients of weights
  double overlap = 1.0;  ///< time of two alternating passes over the sum of their times

  double backward() const { return inputs + weights; }
  double of(steps::ActionKind kind) const {
    switch (kind) {
      case steps::ActionKind::forward: return forward;
      case steps::ActionKind::backward: return backward();
      case steps::ActionKind::input_gradients: return inputs;
      case steps::ActionKind::weight_gradients: return weights;
    }
    throw std::logic_error("unknown action");
  }
};

class PipelineReference {
 public:
  PipelineReference(const steps::PipelineShape& shape, const PassTimes& times)
      : PipelineReference(shape, std::vector<PassTimes>(shape.parts(), times), true) {}
  /// `times`: by part of the model. `joins`: alternating passes end together; otherwise the first
  /// ends before the second begins.
  PipelineReference(const steps::PipelineShape& shape, std::vector<PassTimes> times, bool joins)
      : end_of_stage_s(shape.stages),
        idle_s(shape.stages),
        peak(shape.stages),
        shape_(shape),
        times_(std::move(times)),
        joins_(joins),
        actions_(steps::pipeline_actions(shape)),
        next_(shape.stages),
        alive_(shape.stages) {
    while (advance_all()) {
    }
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage)
      if (next_[stage] < actions_[stage].size()) throw std::logic_error("deadlock");
    time_s = *std::max_element(end_of_stage_s.begin(), end_of_stage_s.end());
    for (double& seconds : idle_s) seconds = time_s - seconds;
  }

  double time_s = 0.0;
  std::vector<double> end_of_stage_s;
  std::vector<double> idle_s;       ///< by stage
  std::vector<std::uint32_t> peak;  ///< by stage, most microbatches of chunks alive at once
  /// Number of executions by forward pass or not, microbatch and part.
  std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, int> executions;

 private:
  using Kind = steps::ActionKind;
  struct Key {
    bool forward = true;  ///< otherwise the gradients of activations
    std::uint32_t microbatch = 0;
    std::uint32_t part = 0;
    auto operator<=>(const Key&) const = default;
  };

  bool advance_all() {
    bool advanced = false;
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage)
      while (next_[stage] < actions_[stage].size() && advance(stage)) advanced = true;
    return advanced;
  }

  /// Executes the next action of a stage, with the one that it alternates with; false if it waits.
  bool advance(std::uint32_t stage) {
    const std::size_t first = next_[stage];
    const std::size_t count = joins_ && actions_[stage][first].alternates ? 2 : 1;
    double start_s = end_of_stage_s[stage];
    double seconds = 0.0;
    for (std::size_t i = first; i < first + count; ++i) {
      for (const Key& key : awaited(stage, actions_[stage][i])) {
        if (!end_s_.contains(key)) return false;
        start_s = std::max(start_s, end_s_.at(key));
      }
      seconds += times_of(stage, actions_[stage][i]).of(actions_[stage][i].kind);
    }
    if (count == 2) seconds *= times_.front().overlap;
    end_of_stage_s[stage] = start_s + seconds;
    idle_s[stage] += seconds;
    for (std::size_t i = first; i < first + count; ++i) finish(stage, actions_[stage][i]);
    next_[stage] += count;
    return true;
  }

  const PassTimes& times_of(std::uint32_t stage, const steps::PipelineAction& action) const {
    return times_[steps::part_at(shape_, {stage, action.chunk})];
  }

  std::vector<Key> awaited(std::uint32_t stage, const steps::PipelineAction& action) const {
    const std::uint32_t part = steps::part_at(shape_, {stage, action.chunk});
    const std::uint32_t microbatch = action.microbatch;
    if (action.kind == Kind::weight_gradients) return {{false, microbatch, part}};
    if (action.kind == Kind::forward)
      return part == 0 ? std::vector<Key>{} : std::vector<Key>{{true, microbatch, part - 1}};
    std::vector<Key> keys = {{true, microbatch, part}};
    if (part + 1 < shape_.parts()) keys.push_back({false, microbatch, part + 1});
    return keys;
  }

  void finish(std::uint32_t stage, const steps::PipelineAction& action) {
    const std::uint32_t part = steps::part_at(shape_, {stage, action.chunk});
    const bool forward = action.kind == Kind::forward;
    if (action.kind != Kind::weight_gradients) {
      end_s_[{forward, action.microbatch, part}] = end_of_stage_s[stage];
      ++executions[{forward, action.microbatch, part}];
    }
    if (forward) peak[stage] = std::max(peak[stage], ++alive_[stage]);
    if (action.kind == Kind::backward || action.kind == Kind::weight_gradients) --alive_[stage];
  }

  steps::PipelineShape shape_;
  std::vector<PassTimes> times_;
  bool joins_;
  std::vector<std::vector<steps::PipelineAction>> actions_;
  std::vector<std::size_t> next_;  ///< by stage, the next action
  std::vector<std::uint32_t> alive_;
  std::map<Key, double> end_s_;
};

}  // namespace equarx::testing
