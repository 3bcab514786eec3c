#include "experiments/tune/trials.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/process/side_by_side.hpp"
#include "experiments/run/source.hpp"
#include "experiments/tune/bounds.hpp"
#include "models/units/quantity.hpp"

namespace equarx::tune {
namespace {

config::ExperimentConfig without_workload(config::ExperimentConfig config) {
  config.workload.reset();
  return config;
}

/// The same values in parts that are small enough for a sample: what is not scaled has the same values
/// whatever its minishards. `partition`: of the tensor
config::CollectiveConfig in_small_parts(config::CollectiveConfig collective,
                                        const collectives::Partition& partition) {
  constexpr std::uint64_t kElements = 1 << 15;
  if (collective.format.scaled) return collective;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for_each_chunk(partition,
                 [&](std::uint64_t elements) { smallest = std::min(smallest, elements); });
  collective.minishards =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, smallest / kElements));
  return collective;
}

/// Of the values of a program. `side_by_side`: threads that compute errors at once, this one among them
Finding program_nmse(const collectives::Program& program, config::ExperimentConfig config,
                     const values::TensorSource& source, unsigned threads, unsigned side_by_side,
                     std::uint64_t most_bytes) {
  config.numerics = true;
  if (auto obstacle = plan::check_host_memory(program, config, threads * side_by_side))
    return *obstacle;
  const std::uint64_t bytes = values::memory_bytes(program, threads * side_by_side);
  if (bytes > most_bytes)
    return TooMuch{fmt::format("computing its error would take {} of memory",
                               units::bytes_text(static_cast<double>(bytes)))};
  const values::ValueResult result = values::execute(program, source,
                                                     {.threads = threads,
                                                      .rounding_seed = config.tensor.values.seed,
                                                      .sample = trial_sample(config.tensor),
                                                      .counts = false});
  if (!result.ranks_identical)
    throw input::InvariantError(
        "internal error: the ranks ended with different results; please report this");
  return result.against_exact.nmse;
}

/// The same, of the only collective of a configuration.
Finding config_nmse(const config::ExperimentConfig& config, const values::TensorSource& source,
                    unsigned threads, unsigned side_by_side, std::uint64_t most_bytes) {
  const plan::OrObstacle<plan::Plan> made = plan::try_plan(config, plan::Look::at_many);
  if (const auto* obstacle = std::get_if<plan::Obstacle>(&made)) return *obstacle;
  return program_nmse(std::get<plan::Plan>(made).collectives.front().candidates.front().program,
                      config, source, threads, side_by_side, most_bytes);
}

}  // namespace

double trial_sample(const config::TensorConfig& tensor) {
  constexpr double kElements = 1 << 17;
  return std::min({1.0, tensor.sample, kElements / static_cast<double>(tensor.elements)});
}

TuneTrials::TuneTrials(const config::ExperimentConfig& config, const TuneSpace& space,
                       std::uint64_t most_bytes)
    : config_(config),
      space_(space),
      most_bytes_(most_bytes),
      source_(run::make_source(config.tensor)),
      theory_(config),
      predictions_(space.families.size()),
      asked_(space.families.size()),
      nmse_(
          space.families.size(), [this](std::size_t family) { return compute(family); }, helpers_),
      bounds_(
          space.candidates.size(),
          [this](std::size_t candidate) { return find_bound_s(candidate); }, helpers_),
      times_(
          space.candidates.size(), [this](std::size_t candidate) { return simulate(candidate); },
          helpers_),
      helpers_(plan::simulating_threads(config.engine) - 1) {
  constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;  // bytes
  source_.keep(kMostKept);
  if (config.workload) workload_ = plan::plan_workload(config);
  timed_ = adds_up() ? without_workload(config) : config;
  process::for_each_side_by_side(
      space.families.size(), values::default_threads(), [&](std::size_t i) {
        predictions_[i] = theory_.predict(scheme(i), space.families[i].config);
      });
}

std::optional<double> TuneTrials::known_nmse(std::size_t family) const {
  if (!asked_[family]) return std::nullopt;
  const auto* const nmse = std::get_if<double>(&nmse_.known(family));
  return nmse == nullptr ? std::nullopt : std::optional(*nmse);
}

std::uint64_t TuneTrials::errors_computed() const {
  std::uint64_t count = 0;
  for (std::size_t family = 0; family < asked_.size(); ++family)
    if (known_nmse(family)) ++count;
  return count;
}

Finding TuneTrials::nmse(std::size_t family) {
  const Finding& nmse = nmse_.ask(family);
  asked_[family] = true;
  return nmse;
}

double TuneTrials::early_bound_s(std::size_t family) const {
  return whole_s(
      traffic_bound_s(scheme(family), space_.families[family].config, config_.tensor.dtype));
}

plan::OrObstacle<double> TuneTrials::cost_s(std::size_t candidate) const {
  const plan::OrObstacle<double> once_s = plan::simulation_time_s(
      config_of(space_, space_.candidates[candidate]), config_, "/collectives/0");
  if (std::holds_alternative<plan::Obstacle>(once_s)) return once_s;
  return std::get<double>(once_s) * (adds_up() ? 1 : allreduces());
}

plan::OrObstacle<double> TuneTrials::find_bound_s(std::size_t candidate) const {
  const plan::OrObstacle<plan::Plan> made = plan(candidate);
  if (const auto* obstacle = std::get_if<plan::Obstacle>(&made)) return *obstacle;
  return std::max(
      early_bound_s(space_.candidates[candidate].family),
      whole_s(program_bound_s(std::get<plan::Plan>(made).collectives.front().candidates.front())));
}

bool TuneTrials::may_fail() const {
  return std::ranges::any_of(config_.faults.links, [](const config::LinkFault& link) {
    return link.fails_at_s.has_value();
  });
}

bool TuneTrials::knows(const Question& question) const {
  if (!bounds_.knows(question.candidate)) return false;
  if (question.of_bound) return true;
  return nmse_.knows(space_.candidates[question.candidate].family) &&
         (!wants_time(question) || times_.knows(question.candidate));
}

/// Of a question whose bound and error are known: whether its time is to be found.
bool TuneTrials::wants_time(const Question& question) const {
  const auto* const nmse =
      std::get_if<double>(&nmse_.known(space_.candidates[question.candidate].family));
  return std::holds_alternative<double>(bounds_.known(question.candidate)) && nmse != nullptr &&
         *nmse < question.nmse_below;
}

void TuneTrials::look_ahead(const std::vector<Question>& questions) {
  std::vector<process::Helpers::Work> work;
  work.reserve(questions.size());
  for (const Question& question : questions)
    work.emplace_back([this, question] { answer(question); });
  helpers_.propose(std::move(work));
}

/// One after the other, and no more than others leave to find.
void TuneTrials::answer(const Question& question) {
  bounds_.prepare(question.candidate);
  if (question.of_bound || !bounds_.knows(question.candidate)) return;
  if (may_fail()) {
    times_.prepare(question.candidate);
    if (!times_.knows(question.candidate) || !times_.known(question.candidate).time_s) return;
  }
  const std::size_t family = space_.candidates[question.candidate].family;
  nmse_.prepare(family);
  if (nmse_.knows(family) && wants_time(question)) times_.prepare(question.candidate);
}

plan::OrObstacle<plan::Plan> TuneTrials::plan(std::size_t candidate) const {
  return plan::try_plan(with_collective(timed_, config_of(space_, space_.candidates[candidate])),
                        plan::Look::at_many);
}

/// A time, or a bound, of all that is tuned, from that of one collective.
double TuneTrials::whole_s(double collective_s) const {
  if (!workload_) return collective_s;
  const std::uint32_t chips = space_.schemes.front().partition.grid().ranks();
  return adds_up() ? phase_in_step_s(config_, *workload_, chips, collective_s)
                   : phase_bound_s(config_, *workload_, chips, collective_s);
}

TuneTrials::Time TuneTrials::simulate(std::size_t candidate) const {
  const double bound_s = std::get<double>(bounds_.known(candidate));
  const auto made = plan::value_or_throw(plan(candidate));
  const run::RunResult run = run::run_experiment(made, [](const std::string&) {}).runs.front();
  if (run.failure) return {};
  const double time_s = adds_up() ? whole_s(run.time_s) : run.time_s;
  if (time_s < bound_s * (1.0 - sim::kBoundRounding))
    throw input::InvariantError(fmt::format(
        "internal error in '{}': simulated time {} s is below its bound {} s; please report this",
        run.label, time_s, bound_s));
  return {time_s, adds_up() ? std::optional(run.time_s) : std::nullopt,
          run.cut ? std::optional(run.cut->minishards) : std::nullopt};
}

double TuneTrials::phase_s(std::size_t candidate) const {
  const plan::Plan made =
      plan::make_plan(with_collective(config_, config_of(space_, space_.candidates[candidate])),
                      plan::Look::at_many);
  return run::run_experiment(made, [](const std::string&) {}).runs.front().time_s;
}

/// With helpers, several errors are computed at once, each by one thread.
Finding TuneTrials::compute(std::size_t family) const {
  const unsigned all = values::default_threads();
  const unsigned threads = helpers_.threads() > 0 ? 1 : all;
  const config::CollectiveConfig collective =
      in_small_parts(space_.families[family].config, scheme(family).partition);
  return config_nmse(with_collective(config_, collective), source_, threads, all / threads,
                     most_bytes_);
}

Finding trial_nmse(const plan::CollectivePlan& planned, const config::ExperimentConfig& config,
                   std::uint64_t most_bytes) {
  constexpr std::uint64_t kMuch = std::uint64_t{2} << 30;  // bytes, of which one thread takes less
  const unsigned all = values::default_threads();
  const unsigned threads = values::memory_bytes(planned.program, all) > kMuch ? 1 : all;
  const values::TensorSource source = run::make_source(config.tensor);
  const config::CollectiveConfig& collective = config.collectives.front();
  if (collective.format.scaled)
    return program_nmse(planned.program, config, source, threads, 1, most_bytes);
  return config_nmse(with_collective(config, in_small_parts(collective, planned.program.partition)),
                     source, threads, 1, most_bytes);
}

}  // namespace equarx::tune
