// "tasks" of a step: a user's own graph.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Reads "tasks" of a step (docs/steps.md), and "computations" and "groups" of chips that they name. A task may stand for several that are
/// alike but for a number. @throws input::InputError for what is not valid, or a graph that waits for itself
steps::StepGraph read_tasks(input::ObjectReader& step, const steps::Mesh& mesh);

/// Writes both, as read_tasks() reads them: one object for each task, and what is computed in several operations once
/// under a name.
void write_tasks(const steps::StepGraph& graph, const steps::Mesh& mesh, input::Json& step);

}  // namespace equarx::config
