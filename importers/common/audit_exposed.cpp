#include "importers/common/audit_exposed.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/units/quantity.hpp"
#include "models/workloads/roofline.hpp"

namespace equarx::imports {
namespace {

using units::time_text;

constexpr double kLeastShare = 1e-3;   // of the step
constexpr double kLeastHiding = 1e-2;  // of the collective

/// Times of the operations of each computation, by its name.
using Seconds = std::map<std::string, std::vector<double>>;

Seconds seconds_of(const ProgramAudit& audit, const hardware::Chip& chip) {
  const workloads::ComputeRates rates = workloads::compute_rates(chip);
  Seconds seconds;
  for (const auto& [computation, operations] : audit.work)
    for (const workloads::Operation& operation : operations)
      seconds[computation].push_back(workloads::roofline(operation, rates).seconds);
  return seconds;
}

/// Times of one execution.
struct Execution {
  double isolated_s = 0.0;
  double between_s = 0.0;      ///< compute between its start and its end
  double independent_s = 0.0;  ///< compute without dependencies, including between_s

  /// Compute that could be moved between its ends, in addition to the compute that is there
  /// already; 0 if it is negligible.
  double more_s() const {
    const double more = independent_s - between_s;
    return more < kLeastHiding * isolated_s ? 0.0 : more;
  }
};

Execution execution_of(const AuditedSchedule& schedule, const step::GroupResult& times,
                       Seconds& seconds) {
  Execution made{.isolated_s = times.isolated_s / std::max(schedule.times, 1.0)};
  const std::vector<double>& of = seconds[schedule.computation];
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (i >= schedule.first_between && i < schedule.end_between) made.between_s += of[i];
    if (schedule.independent[i]) made.independent_s += of[i];
  }
  return made;
}

/// Why a collective is exposed.
std::string reason(const AuditedSchedule& schedule, const step::GroupResult& times,
                   const Execution& execution) {
  constexpr double kContended = 1.02;
  if (schedule.waits) return "It is synchronous: nothing can run between its start and its end.";
  if (execution.between_s <= 0.0) return "No compute is scheduled between its start and its end.";
  if (execution.between_s < execution.isolated_s)
    return fmt::format("The compute between its start and its end takes {}, and it takes {}.",
                       time_text(execution.between_s), time_text(execution.isolated_s));
  if (times.total_s > kContended * times.isolated_s)
    return fmt::format("It shares links with other collectives: {} in the step, {} alone.",
                       time_text(times.total_s), time_text(times.isolated_s));
  return "It waits for earlier collectives over the same links.";
}

std::string remedy(double hiding_s) {
  if (hiding_s <= 0.0)
    return "No other compute of its computation is independent of it: start it an iteration "
           "earlier, split the batch into microbatches, or overlap it with its GEMM by parts (a "
           "collective matmul).";
  return fmt::format(
      "{} of other compute per execution neither feeds it nor needs its result: let the "
      "latency-hiding scheduler run it meanwhile.",
      time_text(hiding_s));
}

/// Equal findings, and the compute that could hide them.
struct Group {
  AuditFinding finding;
  double exposed_s = 0.0;
  double most_s = 0.0;                       ///< largest Execution::more_s() of its members
  std::map<std::string, double> hiding_s{};  ///< per step, by computation, which its members share
};

void add(const AuditedSchedule& schedule, const step::GroupResult& times, double more_s,
         Group& group) {
  group.finding.ops.push_back({schedule.group, schedule.bytes, schedule.times});
  group.exposed_s += times.exposed_s;
  group.most_s = std::max(group.most_s, more_s);
  double& shared_s = group.hiding_s[schedule.computation];
  shared_s = std::max(shared_s, more_s * schedule.times);
}

AuditFinding finding_of(Group group) {
  double hidden_s = 0.0;
  for (const auto& [computation, seconds] : group.hiding_s) hidden_s += seconds;
  group.finding.saved_s = std::min(group.exposed_s, hidden_s);
  group.finding.remedy = remedy(group.most_s);
  return std::move(group.finding);
}

}  // namespace

std::vector<AuditFinding> audit_exposed(const ProgramAudit& audit, const step::VariantResult& plain,
                                        const hardware::Chip& chip) {
  Seconds seconds = seconds_of(audit, chip);
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Group> groups;
  for (const AuditedSchedule& schedule : audit.schedules) {
    const auto times = std::ranges::find(plain.groups, schedule.group, &step::GroupResult::name);
    if (times == plain.groups.end() || times->exposed_s <= 0.0) continue;
    const Execution execution = execution_of(schedule, *times, seconds);
    const std::string why = reason(schedule, *times, execution);
    const std::string origin =
        schedule.op_name.empty() ? schedule.place : op_pattern(schedule.op_name);
    Group& group = groups[{schedule.kind, schedule.type, origin, why}];
    if (group.finding.ops.empty())
      group.finding = {.rule = AuditRule::exposed,
                       .ops = {},
                       .kind = schedule.kind,
                       .type = schedule.type,
                       .op_name = schedule.op_name,
                       .place = schedule.place,
                       .why = why,
                       .remedy = {}};
    add(schedule, *times, execution.more_s(), group);
  }
  std::vector<AuditFinding> findings;
  for (auto& [key, group] : groups)
    if (group.exposed_s >= kLeastShare * plain.time_s)
      findings.push_back(finding_of(std::move(group)));
  return findings;
}

}  // namespace equarx::imports
