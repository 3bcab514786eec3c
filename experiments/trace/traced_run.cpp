#include "experiments/trace/traced_run.hpp"

#include <algorithm>

#include "experiments/trace/arguments.hpp"

namespace equarx::trace {
namespace {

/// Rounds the times of a transfer and keeps them in order.
DrawnTransfer draw(const sim::TransferEvent& transfer, const sim::LinkTime& time) {
  DrawnTransfer drawn;
  drawn.sent = to_picoseconds(transfer.sent_s);
  drawn.arrived = to_picoseconds(transfer.arrived_s);
  drawn.start = std::clamp(to_picoseconds(time.start_s), drawn.sent, drawn.arrived);
  drawn.end = std::clamp(to_picoseconds(time.end_s), drawn.start, drawn.arrived);
  return drawn;
}

}  // namespace

TracedRun::TracedRun(TraceEventWriter& events, const plan::CollectivePlan& planned,
                     const sim::TimeResult& result, std::uint32_t first)
    : writer(events),
      plan(planned),
      program(planned.program),
      machine(planned.simulated.machine()),
      time(result),
      first_process(first),
      link_times(sim::link_times(program, machine, plan.costs, time.trace.transfers)) {
  drawn.reserve(link_times.size());
  for (std::size_t i = 0; i < link_times.size(); ++i)
    drawn.push_back(draw(time.trace.transfers[i], link_times[i]));
}

std::string TracedRun::arguments_of(std::size_t transfer) const {
  const sim::TransferEvent& event = time.trace.transfers[transfer];
  return transfer_arguments(program, machine, event, plan.costs.link_s[event.message],
                            link_times[transfer].shared);
}

}  // namespace equarx::trace
