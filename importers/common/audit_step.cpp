#include "importers/common/audit_step.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "importers/common/imported_collective.hpp"

namespace equarx::imports {
namespace {

using steps::CollectiveCall;
using steps::Permute;
using steps::StepGraph;
using steps::Task;
using steps::TaskId;

/// Changes of one group.
struct GroupChange {
  const AuditChange* size = nullptr;  ///< sets bytes and type
  const AuditChange* drop = nullptr;  ///< removes executions
  bool scatters = false;
};

class Changer {
 public:
  Changer(const StepGraph& graph, const std::vector<AuditChange>& changes) : graph_(graph) {
    for (const AuditChange& change : changes) add(change);
    for (TaskId id = 0; id < graph.tasks.size(); ++id)
      if (changes_.contains(graph.tasks[id].group) || carriers_.contains(graph.tasks[id].group))
        tasks_of_[graph.tasks[id].group].push_back(id);
  }

  StepGraph changed() {
    mark_dropped();
    StepGraph made = graph_;
    made.tasks.clear();
    number_kept();
    for (TaskId id = 0; id < graph_.tasks.size(); ++id) {
      if (dropped_[id]) continue;
      Task task = graph_.tasks[id];
      if (const auto change = changes_.find(task.group); change != changes_.end())
        change_work(change->second, task);
      task.after = after_of(id);
      made.tasks.push_back(std::move(task));
    }
    return made;
  }

 private:
  void add(const AuditChange& change) {
    switch (change.kind) {
      case AuditChange::Kind::retype: changes_[change.group].size = &change; break;
      case AuditChange::Kind::scatter: changes_[change.group].scatters = true; break;
      case AuditChange::Kind::remove: changes_[change.group].drop = &change; break;
      case AuditChange::Kind::merge:
        changes_[change.group].drop = &change;
        changes_[change.into].size = &change;
        carriers_[change.into] = true;
        break;
    }
  }

  void mark_dropped() {
    dropped_.assign(graph_.tasks.size(), false);
    carrier_.assign(graph_.tasks.size(), std::nullopt);
    for (const auto& [group, change] : changes_) {
      if (change.drop == nullptr) continue;
      const std::vector<TaskId>& ids = tasks_of_[group];
      const std::vector<TaskId>& into = tasks_of_[change.drop->into];
      for (std::size_t i = change.drop->kept; i < ids.size(); ++i) {
        dropped_[ids[i]] = true;
        if (i < into.size()) carrier_[ids[i]] = into[i];
      }
    }
  }

  void number_kept() {
    TaskId next = 0;
    for (TaskId id = 0; id < graph_.tasks.size(); ++id) {
      number_.push_back(next);
      if (!dropped_[id]) ++next;
    }
  }

  /// Dependencies of a kept task, numbered anew. Carriers before their parts' users are always
  /// earlier tasks; others are left out, as they would close a cycle.
  std::vector<TaskId> after_of(TaskId id) const {
    std::vector<TaskId> pending = graph_.tasks[id].after;
    std::vector<TaskId> after;
    std::vector<TaskId> seen;
    while (!pending.empty()) {
      const TaskId before = pending.back();
      pending.pop_back();
      if (std::ranges::find(seen, before) != seen.end()) continue;
      seen.push_back(before);
      if (!dropped_[before]) {
        after.push_back(number_[before]);
        continue;
      }
      const std::vector<TaskId>& inherited = graph_.tasks[before].after;
      pending.insert(pending.end(), inherited.begin(), inherited.end());
      if (carrier_[before] && *carrier_[before] < id) pending.push_back(*carrier_[before]);
    }
    std::ranges::sort(after);
    return after;
  }

  static void change_work(const GroupChange& change, Task& task) {
    if (auto* permute = std::get_if<Permute>(&task.work); permute != nullptr && change.size)
      permute->bytes = static_cast<std::uint64_t>(std::ceil(change.size->bytes));
    auto* call = std::get_if<CollectiveCall>(&task.work);
    if (call == nullptr) return;
    if (change.scatters) call->collective = collectives::Collective::reduce_scatter;
    if (change.size == nullptr) return;
    call->dtype = change.size->dtype;
    call->elements = steps::elements_of(change.size->bytes, call->dtype);
  }

  const StepGraph& graph_;
  std::map<std::string, GroupChange> changes_;
  std::map<std::string, bool> carriers_;
  std::map<std::string, std::vector<TaskId>> tasks_of_;  // of the groups above, by execution
  std::vector<bool> dropped_;                            // by task
  std::vector<std::optional<TaskId>> carrier_;           // by task
  std::vector<TaskId> number_;                           // by task
};

}  // namespace

StepGraph changed_graph(const StepGraph& graph, const std::vector<AuditChange>& changes) {
  return Changer(graph, changes).changed();
}

}  // namespace equarx::imports
