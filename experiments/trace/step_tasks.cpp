#include "experiments/trace/step_tasks.hpp"

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/trace/events.hpp"

namespace equarx::trace {

void write_tasks(const step::StepResult& result, std::ostream& out) {
  const steps::StepGraph& graph = result.config.graph;
  TraceEventWriter writer(out);
  for (std::uint32_t i = 0; i < result.runs.size(); ++i) {
    const step::VariantResult& variant = result.runs[i];
    writer.name_process(i + 1, variant.label);
    for (std::uint32_t stream = 0; stream < graph.streams.size(); ++stream)
      writer.name_track({i + 1, stream + 1}, graph.streams[stream]);
    for (std::size_t id = 0; id < graph.tasks.size(); ++id) {
      const steps::Task& task = graph.tasks[id];
      writer.add_slice({{i + 1, task.stream + 1},
                        task.name,
                        task.group,
                        to_picoseconds(variant.tasks[id].start_s),
                        to_picoseconds(variant.tasks[id].end_s)},
                       "{}");
    }
  }
  writer.finish({{"config", config::to_json(result.config)}});
}

}  // namespace equarx::trace
