#include "sim/time_result.hpp"

#include <algorithm>
#include <tuple>

namespace equarx::sim {

CoreWork core_work(const Step& step) {
  switch (step.kind) {
    case Step::Kind::start: return CoreWork::start_up;
    case Step::Kind::compute: return CoreWork::other;
    default: return CoreWork::program;
  }
}

void note_failure(const TransferFailure& failure, TimeResult& result) {
  const auto place = [](const TransferFailure& of) {
    return std::tuple(of.sender, of.receiver, of.message);
  };
  if (!result.failure) {
    result.failure = failure;
    result.time_s = failure.time_s;
  } else if (place(failure) < place(*result.failure)) {
    result.failure = failure;
    result.failure->time_s = result.time_s;
  }
}

LinkIndex broken_link(const Machine& machine, const Route& route, double time_s) {
  LinkIndex found = route.front();
  for (const LinkIndex link : route)
    for (const LinkFailure& failure : machine.failures)
      if (failure.link == link && failure.time_s <= time_s + kFailureInstant) found = link;
  return found;
}

void sort_trace(Trace& trace) {
  std::ranges::stable_sort(
      trace.core, {}, [](const CoreEvent& event) { return std::pair(event.start_s, event.rank); });
  std::ranges::stable_sort(trace.transfers, {}, [](const TransferEvent& event) {
    return std::pair(event.sent_s, event.sender);
  });
}

}  // namespace equarx::sim
