#include "experiments/run/choice.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/units/quantity.hpp"

namespace equarx::run {
namespace {

/// Candidates are sorted by lower bound, so a bound above the best time rules out all later ones.
class Search {
 public:
  Search(const SimulateCandidate& simulate, const std::function<void(const std::string&)>& progress)
      : simulate_(simulate), progress_(progress) {}

  void consider(const plan::CollectivePlan& candidate) {
    const double bound_s =
        sim::lower_bound_s(candidate.program, candidate.simulated.machine(), candidate.costs);
    Candidate& report = best_.candidates.emplace_back(
        Candidate{candidate.config.algorithm, std::nullopt, {}, *candidate.config.protocol});
    if (bound_s > best_s_) {
      report.note = fmt::format("cannot win: lower bound {}", units::time_text(bound_s));
      return;
    }
    progress_(
        fmt::format("{}: trying {}", candidate.config.label, candidate.config.algorithm->name));
    sim::TimeResult time = simulate_(candidate);
    const bool failed = time.failure.has_value();
    if (failed)
      report.note = "fails: uses a link that goes down";
    else
      report.time_s = time.time_s;
    if (failed ? best_.plan != nullptr : time.time_s >= best_s_) return;
    if (!failed) best_s_ = time.time_s;
    best_.plan = &candidate;
    best_.time = std::move(time);
  }

  Choice best() && { return std::move(best_); }

 private:
  const SimulateCandidate& simulate_;
  const std::function<void(const std::string&)>& progress_;
  double best_s_ = std::numeric_limits<double>::infinity();
  Choice best_;
};

}  // namespace

Choice choose(const plan::PlannedCollective& planned, const SimulateCandidate& simulate,
              const std::function<void(const std::string&)>& progress) {
  if (planned.candidates.size() == 1 && planned.infeasible.empty())
    return {&planned.candidates.front(), std::nullopt, {}};
  Search search(simulate, progress);
  for (const plan::CollectivePlan& candidate : planned.candidates) search.consider(candidate);
  Choice best = std::move(search).best();
  for (const plan::InfeasibleAlgorithm& other : planned.infeasible)
    best.candidates.push_back(
        {other.algorithm, std::nullopt, other.reason, hardware::Protocol::none});
  return best;
}

}  // namespace equarx::run
