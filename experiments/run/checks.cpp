#include "experiments/run/checks.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "models/collectives/traffic.hpp"

namespace equarx::run {
namespace {

void require(bool holds, const std::string& label, std::string_view invariant) {
  if (!holds)
    throw input::InvariantError(
        fmt::format("internal error in '{}': {}; please report this", label, invariant));
}

/// True for an algorithm of the caller's, which is in no table.
bool is_own(config::Algorithm algorithm) {
  return collectives::find_algorithm(algorithm->name) != algorithm;
}

}  // namespace

void check_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, double lower_bound_s,
                const std::vector<std::uint64_t>& link_bytes) {
  const std::string& label = plan.config.label;
  const sim::Machine& machine = plan.simulated.machine();
  require(
      time.time_s >= lower_bound_s * (1.0 - sim::kBoundRounding), label,
      fmt::format("simulated time {} s is below its lower bound {} s", time.time_s, lower_bound_s));
  require(time.messages == collectives::total_messages(plan.program, machine.ranks()), label,
          "not every message was received");
  require(time.link_bytes == link_bytes, label, "bytes on the links were lost or duplicated");
}

void check_values(const plan::CollectivePlan& plan, const values::ValueResult& values, bool whole) {
  const std::string& label = plan.config.label;
  const bool may_differ = plan.program.arithmetic.owner == collectives::OwnerKeeps::summed;
  if (!values.ranks_identical && !may_differ && is_own(plan.config.algorithm))
    throw input::InputError(
        "", fmt::format("'{}': the ranks end with different results; every rank must add the same "
                        "terms in the same order, or receive the encoded sum of one of them",
                        plan.config.algorithm->name));
  require(values.ranks_identical || may_differ, label, "the ranks ended with different results");
  require(!whole || values.sent_bytes == collectives::total_sent_bytes(plan.program), label,
          "the encoded bytes differ from the timed bytes");
  require(values.received_bytes == values.sent_bytes, label, "a sent byte was not received");
}

}  // namespace equarx::run
