// "tasks" of a step: a user's own graph.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Reads a list of tasks (docs/steps.md). A task may stand for several that are alike but for a number. `place`: the
/// JSON pointer of the list. @throws input::InputError for what is not valid, or a graph that waits for itself
steps::StepGraph read_tasks(const input::Json& list, const std::string& place,
                            const steps::Mesh& mesh);

/// The list of a graph, as read_tasks() reads it: one object for each task.
input::Json tasks_json(const steps::StepGraph& graph, const steps::Mesh& mesh);

}  // namespace equarx::config
