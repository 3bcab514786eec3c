#include "importers/hlo/flow_totals.hpp"

#include <utility>

namespace equarx::hlo {
namespace {

/// Executions of each list.
std::vector<double> runs_of(const Flow& flow) {
  std::vector<double> runs(flow.lists.size(), 0.0);
  runs[flow.entry] = 1.0;
  for (std::size_t i = flow.order.size(); i-- > 0;)
    for (const FlowStep& step : flow.lists[flow.order[i]])
      if (step.kind == FlowStep::Kind::repeat)
        runs[step.body] += runs[flow.order[i]] * static_cast<double>(step.times);
  return runs;
}

}  // namespace

FlowTotals totals_of(const Flow& flow) {
  FlowTotals totals;
  totals.times.resize(flow.ops.size());
  const std::vector<double> runs = runs_of(flow);
  for (std::size_t i = flow.order.size(); i-- > 0;) {
    const ListId list = flow.order[i];
    if (runs[list] <= 0.0) continue;
    for (const FlowStep& step : flow.lists[list]) {
      const double each = runs[list] * static_cast<double>(step.times);
      if (step.kind == FlowStep::Kind::begin) {
        totals.times[step.op] += each;
        totals.collective_bytes += each * flow.ops[step.op].bytes;
      }
      Cost cost = step.cost;
      totals.cost += cost *= each;
    }
  }
  return totals;
}

ListTotal total_of(const std::vector<FlowStep>& list, const Flow& flow,
                   const std::vector<ListTotal>& totals) {
  ListTotal total;
  for (const FlowStep& step : list) {
    ListTotal one{.cost = step.cost};
    if (step.kind == FlowStep::Kind::repeat) one = totals[step.body];
    if (step.kind == FlowStep::Kind::begin) one.collective_bytes = flow.ops[step.op].bytes;
    const auto times = static_cast<double>(step.times);
    total.cost += one.cost *= times;
    total.collective_bytes += one.collective_bytes * times;
  }
  return total;
}

void keep_what_runs(Flow& flow) {
  const std::vector<double> runs = runs_of(flow);
  const std::vector<double> times = totals_of(flow).times;
  std::vector<OpId> kept(times.size(), 0);
  std::vector<CollectiveOp> ops;
  for (OpId op = 0; op < times.size(); ++op) {
    if (times[op] <= 0.0) continue;
    kept[op] = static_cast<OpId>(ops.size());
    ops.push_back(std::move(flow.ops[op]));
  }
  flow.ops = std::move(ops);
  for (ListId id = 0; id < flow.lists.size(); ++id) {
    if (runs[id] <= 0.0) flow.lists[id].clear();
    for (FlowStep& step : flow.lists[id])
      if (step.kind == FlowStep::Kind::begin || step.kind == FlowStep::Kind::end)
        step.op = kept[step.op];
  }
}

}  // namespace equarx::hlo
