// The "tasks" of a step: a user-defined graph.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Reads "tasks" of a step (docs/steps.md), and the "computations" and "groups" that they name. One
/// object may define several tasks that differ only in a number. @throws input::InputError if they
/// are invalid or the graph has a cycle
steps::StepGraph read_tasks(input::ObjectReader& step, const steps::Mesh& mesh);

/// Inverse of read_tasks(): one object per task; computations of several operations are written
/// once, under a name.
void write_tasks(const steps::StepGraph& graph, const steps::Mesh& mesh, input::Json& step);

/// Schema of an object with "tasks", "computations" and "groups", with annotations.
input::Json tasks_schema();

}  // namespace equarx::config
