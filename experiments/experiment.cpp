#include "experiments/experiment.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "models/collectives/traffic.hpp"

namespace equarx::experiments {
namespace {

using collectives::kDirections;

void require(bool holds, const std::string& label, std::string_view law) {
  if (!holds)
    throw InvariantError(fmt::format("internal error in '{}': {}; please report this", label, law));
}

void check_time(const CollectivePlan& plan, const sim::Machine& machine,
                const sim::TimeResult& time, double lower_bound_s) {
  // A bound that is met exactly may be missed by rounding.
  constexpr double kRounding = 1e-9;
  const std::string& label = plan.config.label;
  require(
      time.time_s >= lower_bound_s * (1.0 - kRounding), label,
      fmt::format("simulated time {} s is below its lower bound {} s", time.time_s, lower_bound_s));
  require(time.messages == std::uint64_t{machine.ranks()} * plan.program.messages.size(), label,
          "not every message was received");
  require(time.link_bytes == sim::link_bytes(plan.program, machine), label,
          "bytes were lost or made on the links");
}

void check_values(const CollectivePlan& plan, const values::ValueResult& values, bool whole) {
  const std::string& label = plan.config.label;
  require(values.ranks_identical, label, "the ranks ended with different results");
  const auto planned = collectives::sent_bytes(plan.program);
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    require(!whole || values.sent_bytes[direction] == planned[direction] * plan.program.ranks,
            label, "the encoded bytes are not those that were timed");
    require(values.received_bytes[direction] == values.sent_bytes[direction], label,
            "a sent byte was not received");
  }
}

values::TensorSource make_source(const TensorConfig& tensor) {
  if (tensor.files.empty()) return {tensor.values, tensor.elements, tensor.dtype};
  return {tensor.opened, tensor.elements, tensor.dtype};
}

class Experiment {
 public:
  Experiment(const Plan& plan, const Progress& progress)
      : plan_(plan), progress_(progress), source_(make_source(plan.config.tensor)) {}

  ExperimentResult run() {
    ExperimentResult result{plan_.config, std::vector<RunResult>(plan_.collectives.size())};
    // Values first: they decide the bytes on the wire. The baseline first of all: others compare with it.
    if (plan_.config.numerics) compute_all(result.runs);
    for (std::size_t i = 0; i < plan_.collectives.size(); ++i) time(i, result.runs[i]);
    for (RunResult& run : result.runs)
      run.speedup = result.runs[plan_.config.baseline].time_s / run.time_s;
    return result;
  }

 private:
  void compute_all(std::vector<RunResult>& runs) {
    values::ResultTensor baseline(plan_.config.tensor.elements, plan_.config.tensor.dtype);
    const std::size_t first = plan_.config.baseline;
    compute(first, runs[first], options({.result = &baseline}));
    runs[first].numerics->against_baseline = numerics::ErrorMetrics{};
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (i != first) compute(i, runs[i], options({.baseline = &baseline}));
  }

  values::ValueOptions options(values::ValueOptions what) const {
    what.rounding_seed = plan_.config.tensor.values.seed;
    what.sample = plan_.config.tensor.sample;
    return what;
  }

  void compute(std::size_t index, RunResult& run, const values::ValueOptions& options) {
    const CollectivePlan& collective = plan_.collectives[index];
    progress_(fmt::format("{}: computing the values of {} ranks", collective.config.label,
                          collective.program.ranks));
    run.numerics = values::execute(collective.program, source_, options);
    check_values(collective, *run.numerics, plan_.config.tensor.sample == 1.0);
  }

  void time(std::size_t index, RunResult& run) {
    const CollectivePlan& collective = plan_.collectives[index];
    const sim::Machine& machine = plan_.representative ? *plan_.representative : plan_.machine;
    progress_(fmt::format("{}: simulating {} messages", collective.config.label,
                          collective.program.messages.size() * machine.ranks()));
    const sim::TimeResult time = sim::simulate(collective.program, machine, collective.costs);
    run.label = collective.config.label;
    run.time_s = time.time_s;
    run.lower_bound_s = sim::lower_bound_s(collective.program, plan_.machine);
    run.wire_bytes_per_link = std::ranges::max(sim::link_bytes(collective.program, plan_.machine));
    run.chips = plan_.machine.ranks();
    run.symmetric = plan_.representative.has_value();
    run.core_busy_s = std::ranges::max(time.core_busy_s);
    run.breakdown = break_down(collective, plan_.machine, run.time_s);
    check_time(collective, machine, time, run.lower_bound_s);
  }

  const Plan& plan_;
  const Progress& progress_;
  values::TensorSource source_;
};

}  // namespace

ExperimentResult run_experiment(const Plan& plan, const Progress& progress) {
  return Experiment(plan, progress).run();
}

}  // namespace equarx::experiments
