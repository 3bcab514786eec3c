#include "experiments/tune_layouts/layout.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/training_json.hpp"

namespace equarx::tune_layouts {
namespace {

/// "training" of a layout, with all defaults filled in.
input::Json training_json_of(const config::StepConfig& config, const Layout& layout) {
  config::TrainingConfig training = config.training.value();
  training.training = training_of(config, layout);
  input::Json json = config::training_json(training);
  if (layout.length("pipeline") == 1) json.erase("pipeline");
  return json;
}

std::string remat_text(const steps::Remat& remat) {
  if (remat == steps::Remat{}) return "remat none";
  return remat == steps::kFullRemat ? "remat full" : "remat of its own";
}

}  // namespace

std::size_t axis_index(std::string_view name) {
  const auto found = std::ranges::find(kLayoutAxes, name, &LayoutAxis::name);
  if (found == kLayoutAxes.end()) throw std::logic_error("unknown mesh axis");
  return static_cast<std::size_t>(found - kLayoutAxes.begin());
}

Layout layout_of(const config::StepConfig& config) {
  const steps::Training& training = config.training.value().training;
  Layout layout{.microbatches = training.microbatches,
                .schedule = training.pipeline.schedule,
                .chunks = training.pipeline.chunks,
                .context = training.context,
                .distributed_optimizer = training.distributed_optimizer,
                .remat = training.remat};
  for (std::size_t axis = 0; axis < kLayoutAxes.size(); ++axis)
    layout.lengths[axis] = config.mesh.length(std::string(kLayoutAxes[axis].name));
  return layout;
}

steps::Training training_of(const config::StepConfig& config, const Layout& layout) {
  steps::Training training = config.training.value().training;
  training.microbatches = layout.microbatches;
  training.pipeline.schedule = layout.schedule;
  training.pipeline.chunks = layout.chunks;
  if (training.pipeline.layers.size() != layout.length("pipeline") * layout.chunks)
    training.pipeline.layers.clear();
  if (layout.length("pipeline") == 1) training.pipeline = {};
  training.context = layout.context;
  training.distributed_optimizer = layout.distributed_optimizer;
  if (!layout.distributed_optimizer || layout.schedule == steps::PipelineKind::dual_pipe)
    training.sharded_gradients = false;
  training.remat = layout.remat;
  return training;
}

std::vector<steps::MeshAxis> mesh_axes(const Layout& layout) {
  std::vector<steps::MeshAxis> axes;
  for (std::size_t axis = 0; axis < kLayoutAxes.size(); ++axis)
    if (layout.lengths[axis] > 1)
      axes.push_back({.name = std::string(kLayoutAxes[axis].name), .length = layout.lengths[axis]});
  if (axes.empty()) axes.push_back({.name = "data", .length = 1});
  return axes;
}

std::string layout_text(const config::StepConfig& config, const Layout& layout) {
  std::string text;
  for (std::size_t axis = kLayoutAxes.size(); axis-- > 0;)
    if (layout.lengths[axis] > 1)
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", kLayoutAxes[axis].abbreviation,
                          layout.lengths[axis]);
  if (text.empty()) text = "one chip";
  text +=
      fmt::format(", {} microbatch{}", layout.microbatches, layout.microbatches > 1 ? "es" : "");
  const input::Json json = training_json_of(config, layout);
  if (layout.length("pipeline") > 1)
    text += fmt::format(", {}", json["pipeline"]["schedule"].get<std::string>());
  if (layout.chunks > 1) text += fmt::format(" x{}", layout.chunks);
  if (layout.length("context") > 1) text += ", " + json["context"].get<std::string>();
  if (layout.distributed_optimizer)
    text += json.value("sharded_gradients", false) ? ", ZeRO-2" : ", ZeRO-1";
  if (layout.remat != config.training->training.remat) text += ", " + remat_text(layout.remat);
  return text;
}

input::Json with_layout(const input::Json& json, const config::StepConfig& config,
                        const Layout& layout) {
  input::Json changed = json;
  input::Json mesh = input::Json::object();
  for (const steps::MeshAxis& axis : mesh_axes(layout)) mesh[axis.name] = axis.length;
  if (json["mesh"].contains("order")) mesh["order"] = json["mesh"]["order"];
  changed["mesh"] = std::move(mesh);
  changed["step"]["training"] = training_json_of(config, layout);
  return changed;
}

}  // namespace equarx::tune_layouts
