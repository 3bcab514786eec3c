#include "models/steps/live_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <variant>
#include <vector>

namespace equarx::steps {
namespace {

/// The core tasks in execution order, and for each task of the graph the core task during
/// which it runs.
struct CoreOrder {
  std::vector<TaskId> core;
  std::vector<std::size_t> position;
};

/// RoleChips of a task or buffer; all if absent.
using RoleChips = std::optional<std::uint32_t>;

bool applies(const RoleChips& some, const RoleChips& chips) { return !some || some == chips; }

/// `chips`: with tasks of their own
CoreOrder core_order(const StepGraph& graph, const RoleChips& chips) {
  CoreOrder order;
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    const Task& task = graph.tasks[id];
    order.position.push_back(order.core.size());
    if (std::holds_alternative<Computation>(task.work) && applies(task.chips, chips))
      order.core.push_back(id);
  }
  if (order.core.empty()) throw std::logic_error("no task of the core");
  for (std::size_t& position : order.position) position = std::min(position, order.core.size() - 1);
  return order;
}

double& part(LiveMemory& memory, BufferUse use) {
  switch (use) {
    case BufferUse::weights: return memory.weights;
    case BufferUse::gradients: return memory.gradients;
    case BufferUse::optimizer: return memory.optimizer;
    case BufferUse::gathered: return memory.gathered;
    case BufferUse::activations: return memory.activations;
    case BufferUse::logits: return memory.logits;
  }
  throw std::logic_error("unknown use of a buffer");
}

LiveMemory peak_of(const StepGraph& graph, const RoleChips& chips) {
  const CoreOrder order = core_order(graph, chips);
  // Allocations and releases by core task; a buffer is released after its last task.
  std::vector<std::vector<const Buffer*>> allocated(order.core.size());
  std::vector<std::vector<const Buffer*>> released(order.core.size());
  for (const Buffer& buffer : graph.buffers) {
    if (!applies(buffer.chips, chips)) continue;
    allocated[order.position.at(buffer.first)].push_back(&buffer);
    released[order.position.at(buffer.last)].push_back(&buffer);
  }
  LiveMemory live;
  LiveMemory peak;
  for (std::size_t at = 0; at < order.core.size(); ++at) {
    for (const Buffer* buffer : allocated[at]) part(live, buffer->use) += buffer->bytes;
    if (live.total() > peak.total()) {
      peak = live;
      peak.task = graph.tasks[order.core[at]].name;
    }
    for (const Buffer* buffer : released[at]) part(live, buffer->use) -= buffer->bytes;
  }
  peak.chips = chips;
  return peak;
}

}  // namespace

std::vector<LiveMemory> peaks_of_roles(const StepGraph& graph) {
  std::vector<RoleChips> roles;
  for (const Buffer& buffer : graph.buffers)
    if (buffer.chips && std::ranges::find(roles, buffer.chips) == roles.end())
      roles.push_back(buffer.chips);
  if (roles.empty()) roles.push_back(std::nullopt);
  std::vector<LiveMemory> peaks;
  for (const RoleChips& chips : roles) peaks.push_back(peak_of(graph, chips));
  return peaks;
}

LiveMemory peak_memory(const StepGraph& graph) {
  const std::vector<LiveMemory> peaks = peaks_of_roles(graph);
  return *std::ranges::max_element(peaks, {}, &LiveMemory::total);
}

}  // namespace equarx::steps
