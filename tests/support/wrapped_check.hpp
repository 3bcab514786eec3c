// Check that no collective of a wrapped program vanishes.
#pragma once

#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "importers/hlo/flow_totals.hpp"
#include "importers/hlo/hlo_step.hpp"
#include "importers/hlo/parser.hpp"
#include "models/steps/mesh_layout.hpp"
#include "tests/support/wrapped_programs.hpp"

namespace equarx::testing {

/// Executions of the collectives in a flow, and 0 for those in its notes.
inline Executions executions_in(const hlo::Module& module, const hlo::Flow& flow) {
  const auto name = [&](hlo::ComputationId in, hlo::InstructionId of) {
    return std::string(module.computations[in].instructions[of].name);
  };
  Executions found;
  const hlo::FlowTotals totals = totals_of(flow);
  for (std::size_t i = 0; i < flow.ops.size(); ++i)
    found[name(flow.ops[i].computation_id, flow.ops[i].instruction_id)] += totals.times[i];
  for (const hlo::NotRun& one : flow.not_run) {
    const std::string of = name(one.place.first, one.place.second);
    if (found.contains(of)) throw std::logic_error("runs and does not run: " + of);
    found[of] = 0.0;
    bool is_noted = false;
    for (const auto& [note, count] : flow.notes)
      is_noted = is_noted || note.find("'" + of + "'") != std::string::npos ||
                 note.find(" more") != std::string::npos;
    if (!is_noted) throw std::logic_error("no note names " + of);
  }
  return found;
}

/// Collective tasks of the step of a flow for 8 chips.
inline double collective_tasks(const hlo::Flow& flow) {
  const steps::Mesh mesh = steps::lay_mesh({8}, {{.name = "chips", .length = 8}});
  const steps::StepGraph graph = hlo_step(flow, mesh).graph;
  double tasks = 0.0;
  for (const steps::Task& task : graph.tasks)
    if (!std::holds_alternative<steps::Computation>(task.work)) tasks += 1.0;
  return tasks;
}

/// @throws std::logic_error if a collective runs more or less often than expected, in the flow or
/// in the step
inline void check_nothing_vanishes(const WrappedProgram& program) {
  const hlo::Module module = hlo::parse_module(program.text);
  const hlo::Flow flow = hlo::make_flow(module);
  const Executions found = executions_in(module, flow);
  for (const auto& [name, times] : program.expected) {
    const auto at = found.find(name);
    if (at == found.end() || at->second != times)
      throw std::logic_error(fmt::format("{} runs {} times, not {}", name,
                                         at == found.end() ? -1.0 : at->second, times));
  }
  if (found.size() != program.expected.size())
    throw std::logic_error("collectives that nobody planted");
  double all = 0.0;
  for (const auto& [name, times] : found) all += times;
  constexpr double kMostTasks = 1000.0;  // keeps a program at a millisecond
  if (all <= kMostTasks && collective_tasks(flow) != all)
    throw std::logic_error(
        fmt::format("{} collectives of the step, not {}", collective_tasks(flow), all));
}

}  // namespace equarx::testing
