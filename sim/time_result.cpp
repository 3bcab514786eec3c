#include "sim/time_result.hpp"

#include <algorithm>
#include <tuple>

namespace equarx::sim {

CoreWork core_work(const Step& step) {
  switch (step.kind) {
    case Step::Kind::start: return CoreWork::start_up;
    default: return CoreWork::program;
  }
}

void add_wait(double since_s, double sent_s, double until_s, Waits& waits) {
  const double waited_s = std::max(0.0, until_s - since_s);
  const double senders_s = std::clamp(sent_s - since_s, 0.0, waited_s);
  waits.senders_s += senders_s;
  waits.links_s += waited_s - senders_s;
}

void add_times(const Waits& waits, double times, Waits& sum) {
  sum.links_s += times * waits.links_s;
  sum.senders_s += times * waits.senders_s;
  sum.queue_s += times * waits.queue_s;
}

void note_failure(const TransferFailure& failure, TimeResult& result) {
  const auto key = [](const TransferFailure& of) {
    return std::tuple(of.sender, of.receiver, of.message);
  };
  if (!result.failure) {
    result.failure = failure;
    result.time_s = failure.time_s;
  } else if (key(failure) < key(*result.failure)) {
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

void add_moved(const Machine& machine, const Route& route, std::uint64_t bytes, double link_s,
               TimeResult& result) {
  for (const LinkIndex link : route) {
    result.link_bytes[link] += bytes;
    result.link_busy_s[link] += static_cast<double>(bytes) / machine.links[link].rate +
                                (link < machine.cables() ? link_s : 0.0);
  }
}

void add_hbm_access(const Machine& machine, collectives::Rank rank, std::uint64_t bytes,
                    TimeResult& result) {
  add_moved(machine, {machine.hbm[rank]}, bytes, 0.0, result);
}

void sort_trace(Trace& trace) {
  std::ranges::stable_sort(
      trace.core, {}, [](const CoreEvent& event) { return std::pair(event.start_s, event.rank); });
  std::ranges::stable_sort(trace.transfers, {}, [](const TransferEvent& event) {
    return std::pair(event.sent_s, event.sender);
  });
}

}  // namespace equarx::sim
